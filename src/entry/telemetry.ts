export { openTelemetry } from '../adapters/telemetry/open-telemetry.ts'
