export { openTelemetry } from '../main/telemetry.ts'
