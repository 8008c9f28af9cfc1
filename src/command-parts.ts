// Parts that the command line uses beside the container. Heavier ones have files of their own: migrating.ts, readers.ts
// and runtimes.ts.
export { believedWindow } from './adapters/catalogue/model-windows.ts'
export { nearestWord } from './adapters/config/nearest-word.ts'
export { networkProblem } from './adapters/hooks/allowed-networks.ts'
export { foreseenRefusals } from './adapters/hooks/foreseen-refusals.ts'
export { uuidV7Ids } from './adapters/system/uuid-v7-ids.ts'
export { readConfiguration } from './configuration.ts'
export type { StoreOptions } from './options.ts'
export { agentEnvironment } from './processes/agent-environment.ts'
export { serviceFolder } from './service-folder.ts'
export { sha256 } from './sha256.ts'
export { DEFAULT_DATA_DIR, folderToRead, openStore } from './stores.ts'
