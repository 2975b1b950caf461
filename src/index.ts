/** The public door of the package. */
export { ERRORS, OpenClusterError, type ErrorCode } from './errors.js'

export const VERSION = '0.1.0'
