/**
 * A small queue for looking at the rules: `opencluster loadbalance demo --source command --provider process --once
 * --explain`. One host is full, a job has waited for five minutes, and another one can never run.
 */
const MINUTE_MS = 60_000
const now = Date.now()

process.stdout.write(
  `${JSON.stringify({
    hosts: [
      { name: 'master', role: 'master', slots: 0 },
      {
        name: 'node001',
        slots: 4,
        used: 4,
        managed: true,
        resources: { arch: 'lx-amd64' },
        launchedAt: now - 50 * MINUTE_MS
      }
    ],
    jobs: [
      {
        id: '1',
        state: 'running',
        submittedAt: now - 20 * MINUTE_MS,
        startedAt: now - 20 * MINUTE_MS,
        slots: 4,
        hosts: [{ host: 'node001', slots: 4 }]
      },
      { id: '2', submittedAt: now - 5 * MINUTE_MS, slots: 2 },
      { id: '3', submittedAt: now - 60 * MINUTE_MS, resources: { arch: 'lx-arm' } }
    ]
  })}\n`
)
