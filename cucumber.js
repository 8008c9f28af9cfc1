/** Living documentation: every feature on one store. A scenario that cannot be carried out fails the run. */
const common = {
  import: ['features/support/**/*.ts', 'features/steps/**/*.ts'],
  format: ['progress'],
  strict: true,
  publish: false,
}

const on = (store) => ({ ...common, worldParameters: { store } })

export default on('memory')
export const pglite = on('pglite')
export const postgres = on('postgres')
export const pooled = on('pooled')
