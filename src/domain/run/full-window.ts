import type { RestartBudget } from '../budget/restart-budget.ts'
import { counted } from '../kernel/counted.ts'
import { RUN_POLICY } from '../window/context-monitor.ts'
import { type Milestone, RESTART } from '../window/milestone.ts'
import type { Configuration } from './run-configuration.ts'

/** Sentences about what a configuration does when a window fills up: for its runs, and for each agent that differs. */
export const describeFullWindow = (configuration: Configuration): readonly string[] => {
  const { monitor, restart, agents, contextLimit } = configuration
  const all = atFullWindow(configuration, monitor.milestones, restart.budget)
  const others = agents.flatMap(({ name, milestones, maxRestarts = restart.budget.maxRestarts }) => {
    const own = atFullWindow(configuration, milestones, { ...restart.budget, maxRestarts })
    return own === all ? [] : [`Agent ${JSON.stringify(name)}: ${own}`]
  })
  const isAuto = monitor.isEnabled && (monitor.policy ?? RUN_POLICY) === 'auto'
  const unknown =
    isAuto && contextLimit === undefined
      ? ['Where nobody knows how large the window is, there is no restart: write context_limit for such a model.']
      : []
  return [all, ...others, ...unknown]
}

const atFullWindow = (
  { monitor }: Pick<Configuration, 'monitor'>,
  milestones: readonly Milestone[],
  budget: RestartBudget,
): string => {
  const policy = monitor.policy ?? RUN_POLICY
  const restartAt = milestones.find(({ name }) => name === RESTART)?.at
  if (!monitor.isEnabled || restartAt === undefined) return `A full window is not restarted. ${LEFT_TO_RUNTIME}`
  const at = `${Math.round(restartAt * 1_000) / 10} % of the usable window`
  if (policy === 'manual') return `At ${at} nothing is said or done. ${LEFT_TO_RUNTIME}`
  if (policy === 'advise') return `At ${at} a run says that a restart is due, and does not restart. ${LEFT_TO_RUNTIME}`
  if (budget.maxRestarts === 0)
    return `At ${at} no restart is left (session.max_handoffs_per_job is 0): ${after(budget)}`
  const times = `at most ${counted(budget.maxRestarts, 'time')} after each new prompt`
  return `At ${at} a run restarts in a fresh window, ${times}; then ${after(budget)}`
}

const LEFT_TO_RUNTIME = 'The agent’s own compaction makes room, or the run ends there.'

const after = ({ whenExhausted }: RestartBudget): string =>
  whenExhausted === 'stop'
    ? 'the run ends, and its session fails.'
    : 'the session continues, and the agent’s own compaction makes room.'
