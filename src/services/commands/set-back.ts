import { StoreFailure } from '../../ports/store/store-failure.ts'

/** A thing of which the store has less than it said before. */
export interface Behind {
  readonly what: string
  /** As this process was answered. */
  readonly had: string
  /** As the store has it now. */
  readonly has: string
}

/** The failure of a store that has less than it answered: what was acknowledged is lost, and nothing is built on the rest. */
export const setBack = ({ what, had, has }: Behind): StoreFailure =>
  new StoreFailure(
    'store.set_back',
    `The store was set back: this process was answered ${what} as ${had}, and in the store it is ${has}. A standby ` +
      'without the last commits took over, or an older copy was restored. Nothing more was stored. Find out which copy ' +
      'counts, then start this process again: it begins from what is stored.',
  )

/** Whether this is the failure of a store that was set back. */
export const isSetBack = (error: unknown): error is StoreFailure =>
  error instanceof StoreFailure && error.code === 'store.set_back'
