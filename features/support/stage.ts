import { FaultInjector } from '../../src/entry/testing.ts'
import type { HandoffService } from '../../src/services/handoff-service.ts'
import type { HandoffHistory } from '../../src/services/history/handoff-history.ts'
import { Scene, type StoreUnderTest } from '../../src/testing/scene.ts'
import { Attempts } from './attempts.ts'
import { Hands } from './hands.ts'

/** What the verbs of a scenario share: the service under test, what callers hold, and how commands were answered. */
export class Stage {
  readonly scene: Scene
  readonly faults: FaultInjector
  readonly service: HandoffService
  readonly history: HandoffHistory
  readonly hands = new Hands()
  readonly attempts: Attempts

  constructor(opened: StoreUnderTest, look: (keys: readonly string[]) => Promise<readonly unknown[]>) {
    this.scene = new Scene(opened)
    this.faults = new FaultInjector(opened.store)
    this.service = this.scene.serviceOver(this.faults.store)
    this.history = this.scene.historyOver(this.faults.store)
    this.attempts = new Attempts(this.scene.ids, () => look(this.hands.keys))
  }

  /** A name as it is stored: unique to this scenario, with the white space around it as written; blank stays blank. */
  named(name: string): string {
    return name.replace(/\S(.*\S)?/s, (written) => this.scene.name(written))
  }
}
