export { CountingIds } from './counting-ids.ts'
export { type Fault, FaultInjector } from './fault-injector.ts'
export { FixedClock } from './fixed-clock.ts'
export { type ReaderUnderTest, readerContract } from './reader-contract.ts'
export { refusal } from './refusal.ts'
export type { StoreUnderTest } from './scene.ts'
export {
  type Script,
  type ScriptedLaunch,
  type ScriptedMessage,
  ScriptedRuntime,
  type ScriptedTurn,
  type ScriptedWindow,
} from './scripted-runtime.ts'
export { type Harness, storeContract } from './store-contract.ts'
