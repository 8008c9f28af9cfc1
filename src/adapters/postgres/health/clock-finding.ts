import type { Finding } from '../../../ports/system/health-check.ts'

/** How far the clocks may be apart before claims are decided twice. */
const FEW_MS = 2_000
const MANY_MS = 300_000

/** A difference that the way there explains is none. */
export const clockFinding = (apart: number, wait: number): Finding => {
  const sure = Math.max(0, Math.abs(apart) - wait / 2)
  const text = `${(Math.abs(apart) / 1_000).toFixed(1)} s ${apart >= 0 ? 'behind' : 'ahead of'} the database (measured in ${wait} ms)`
  if (sure <= FEW_MS) return { result: 'ok', text: `this machine is ${text}` }
  const repair =
    'Let both follow a time server (chrony, systemd-timesyncd): claims and leases go by the database’s clock.'
  return { result: sure > MANY_MS ? 'problem' : 'warning', text: `this machine is ${text}`, repair }
}
