/** Dark or light: as the machine has it, until somebody chooses. */
import { computed, effect, signal } from '@preact/signals'

export type Theme = 'light' | 'dark'

const KEY = 'opencluster-theme'
const machine = matchMedia('(prefers-color-scheme: dark)')
const machineTheme = signal<Theme>(machine.matches ? 'dark' : 'light')
const chosen = signal<Theme | undefined>(readChoice())

export const theme = computed<Theme>(() => chosen.value ?? machineTheme.value)

machine.addEventListener('change', () => {
  machineTheme.value = machine.matches ? 'dark' : 'light'
})

effect(() => {
  document.documentElement.dataset['theme'] = theme.value
})

export function toggleTheme(): void {
  chosen.value = theme.value === 'dark' ? 'light' : 'dark'
  try {
    localStorage.setItem(KEY, chosen.value)
  } catch {
    // A browser that keeps nothing forgets this as well.
  }
}

const colours = new Map<string, string>()

/** A colour of the style sheet, for what is drawn by hand; whoever reads it is asked again when the theme changes. */
export function colour(name: string): string {
  const key = `${theme.value}/${name}`
  const known = colours.get(key)
  if (known !== undefined) return known
  const value = getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim()
  colours.set(key, value)
  return value
}

function readChoice(): Theme | undefined {
  try {
    const value = localStorage.getItem(KEY)
    return value === 'dark' || value === 'light' ? value : undefined
  } catch {
    return undefined
  }
}
