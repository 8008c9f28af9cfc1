/** The agent that a measurement is about. Few agents and models have names, so that metrics stay few. */
export interface MeasuredAgent {
  readonly agentName: string
  readonly backend: string
  readonly model?: string
}

/** Something to count or measure about a command that was stored. It has no ids and no texts. */
export type Measurement =
  | {
      readonly type: 'turn'
      readonly agent: MeasuredAgent
      /** Tokens of its request and its answer, if the runtime has counted them. */
      readonly tokens?: { readonly input: number; readonly output: number }
    }
  /** How full the window is after turns, as a share of its usable size. */
  | { readonly type: 'window'; readonly agent: MeasuredAgent; readonly ratio: number }
  | {
      readonly type: 'handoff'
      readonly kind: string
      readonly outcome: 'initiated' | 'completed' | 'cancelled' | 'failed'
      readonly sourceAgent: string
      readonly targetAgent: string
    }
  /** A handoff has its first claimant. */
  | { readonly type: 'claim'; readonly kind: string; readonly targetAgent: string; readonly waitedMs: number }
  | {
      readonly type: 'restart'
      readonly agentName: string
      /** `refused` when the budget allowed none. */
      readonly outcome: 'completed' | 'cancelled' | 'failed' | 'refused'
    }

/** How a command ended: `ok`, or the code of its refusal; and what it was about. */
export interface CommandEnd {
  readonly outcome: string
  readonly conversationId?: string
  readonly sessionId?: string
  readonly handoffId?: string
}

/** Shows the commands of services to an observer. An implementation never throws, and costs next to nothing without one. */
export interface CommandTelemetry {
  /** Carries `work` out, once, and shows how it went. */
  command?<T>(name: string, work: () => Promise<T>, endOf: (done: T) => CommandEnd): Promise<T>
  /** Takes what stored commands amount to, when they are stored for good. */
  measure?(measured: readonly Measurement[]): void
}
