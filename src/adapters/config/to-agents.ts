import { HOOK_MOMENTS } from '../../domain/hooks/hook-settings.ts'
import { defined } from '../../domain/kernel/defined.ts'
import type { ConfiguredAgent } from '../../domain/run/configured-agent.ts'
import { type PermissionModes, permissionProblem } from '../../domain/run/permission-mode.ts'
import type { Configuration, ConfigurationSetting } from '../../domain/run/run-configuration.ts'
import type { SessionSettings } from '../../domain/run/session-settings.ts'
import type { AgentContent, KnownAgents } from './agent-schema.ts'
import { hookNames, toHooks } from './hook-schema.ts'
import { type MilestoneClaims, milestoneClaims, thresholdProblems } from './milestone-claims.ts'
import {
  conflictsIn,
  type FoundProblem,
  milestonesInForce,
  orderProblems,
  pathText,
  type SettledMilestones,
  settleMilestones,
} from './milestone-settings.ts'
import type { FileContent } from './schema.ts'
import { agentPlaceOf, agentPlaceSettings, placeProblems } from './to-workspace.ts'

/** The milestones of each agent: its own, and those of the whole configuration where it says nothing. */
export interface AgentMilestones {
  readonly settled: readonly SettledMilestones[]
  readonly problems: readonly FoundProblem[]
}

/** Settles the milestones of every agent. */
export const agentMilestones = (content: unknown, whole: MilestoneClaims): AgentMilestones => {
  const { agents } = content as { readonly agents?: unknown }
  const each = (Array.isArray(agents) ? agents : []).map((_, index) => milestonesOf(content, ['agents', index], whole))
  return { settled: each.map(({ settled }) => settled), problems: each.flatMap(({ problems }) => problems) }
}

const milestonesOf = (content: unknown, base: readonly (string | number)[], whole: MilestoneClaims) => {
  const own = milestoneClaims(content, base)
  // A list is complete, so nothing is added to an agent's own one.
  const inherited = whole.claims.filter(({ name }) => !own.isList && !own.claims.some((claim) => claim.name === name))
  const settled = settleMilestones([...own.claims, ...inherited], own.isList || whole.isList)
  const both = thresholdProblems(content, base)
  const isWhole = !own.isPartial && !whole.isPartial && own.claims.length > 0
  const problems = [
    ...both,
    ...(both.length > 0 ? [] : conflictsIn(own.claims)),
    ...(isWhole ? orderProblems(settled.settings) : []),
  ]
  return { settled, problems }
}

/** Names that are there twice, runtimes that lack what they run, and modes that a runtime does not know. */
export const agentProblems = (
  { agents, workspace: ofAll }: FileContent,
  { runtimes }: KnownAgents,
): readonly FoundProblem[] =>
  (agents ?? []).flatMap((agent, index) => {
    const { name, runtime, command, permission_mode: mode } = agent
    const first = (agents ?? []).findIndex((other) => other.name.trim() === name.trim())
    const wrong = (key: string, problem: string, advice: string) => ({ path: ['agents', index, key], problem, advice })
    const runsOn = runtime ?? (command === undefined ? undefined : ('command' as const))
    const unfit = mode === undefined ? undefined : permissionProblem(mode, runsOn, modesOf(runtimes))
    return [
      ...placeProblems(agent, ['agents', index], ofAll?.strategy),
      ...(unfit === undefined ? [] : [wrong('permission_mode', unfit.problem, unfit.advice)]),
      ...(first === index
        ? []
        : [wrong('name', `agents[${first}] has this name`, 'Give each agent a name of its own.')]),
      ...(runtime === 'command' && command === undefined
        ? [wrong('runtime', 'it does not say which command', 'Write command: my-agent --json as well.')]
        : []),
      ...(runtime !== undefined && runtimes[runtime]?.takesCommand === false && command !== undefined
        ? [wrong('command', `${runtime} runs no command`, `Leave it out, or write runtime: ${takerOf(runtimes)}.`)]
        : []),
    ]
  })

const modesOf = (runtimes: KnownAgents['runtimes']): PermissionModes =>
  Object.fromEntries(Object.entries(runtimes).map(([name, { permissionModes }]) => [name, permissionModes]))

/** The first runtime that takes a command. */
const takerOf = (runtimes: KnownAgents['runtimes']): string | undefined =>
  Object.keys(runtimes).find((name) => runtimes[name]?.takesCommand === true)

/** The agents in force. */
export const agentsOf = (
  { agents }: FileContent,
  whole: Omit<Configuration, 'agents'>,
  settled: readonly SettledMilestones[],
): readonly ConfiguredAgent[] =>
  (agents ?? []).map((agent, index) => {
    const { name, command, model, session } = agent
    const runtime = agent.runtime ?? (command === undefined ? undefined : ('command' as const))
    const own = toHooks(agent.hooks ?? {})
    const inherited = whole.hooks.filter(({ moment }) => agent.hooks?.[moment] == null)
    return {
      name: name.trim(),
      ...defined({ runtime, command, model, permissionMode: agent.permission_mode }),
      ...defined({ maxRestarts: session?.max_handoffs_per_job }),
      milestones: milestonesInForce(settled[index]?.settings ?? []),
      ...defined({ contextLimit: agent.context_limit ?? whole.contextLimit }),
      session: sessionOf(session, whole.session),
      ...defined({ place: agentPlaceOf(agent, whole) }),
      hooks: HOOK_MOMENTS.flatMap((moment) => [...own, ...inherited].filter((hook) => hook.moment === moment)),
    }
  })

/** Settings about sessions between prompts. */
export const sessionOf = (session: FileContent['session'], otherwise: SessionSettings): SessionSettings => ({
  mode: session?.mode ?? otherwise.mode,
  timeoutMs: session?.timeout ?? otherwise.timeoutMs,
})

/** The settings that an agent has for itself; the others are those of the whole configuration. */
export const agentSettings = (
  { agents }: FileContent,
  configured: readonly ConfiguredAgent[],
  settled: readonly SettledMilestones[],
): readonly ConfigurationSetting[] =>
  (agents ?? []).flatMap((agent, index) => {
    const [made, milestones] = [configured[index], settled[index]?.settings ?? []]
    const row = (key: string, value: ConfigurationSetting['value'] | undefined) =>
      value === undefined ? [] : [{ key: `agents.${made?.name}.${key}`, value, from: `agents[${index}].${key}` }]
    const { session } = agent
    return [
      ...runtimeRow(agent, made, index),
      ...row('command', agent.command),
      ...row('model', agent.model),
      ...row('permission_mode', agent.permission_mode),
      ...milestones.map(({ name, at, paths }) => ({
        key: `agents.${made?.name}.milestones.${name}`,
        value: at,
        from: paths.map(pathText).join(', ') || 'default',
      })),
      ...row('context_limit', agent.context_limit),
      ...row('session.max_handoffs_per_job', session?.max_handoffs_per_job),
      ...row('session.mode', session?.mode),
      ...row('session.timeout', session?.timeout),
      ...agentPlaceSettings(agent).map(({ key, value, from }) => ({
        key: `agents.${made?.name}.${key}`,
        value,
        from: from
          .split(', ')
          .map((part) => `agents[${index}].${part}`)
          .join(', '),
      })),
      ...HOOK_MOMENTS.flatMap((moment) =>
        agent.hooks?.[moment] == null ? [] : row(`hooks.${moment}`, hookNames(made?.hooks ?? [], moment)),
      ),
    ]
  })

const runtimeRow = (agent: AgentContent, made: ConfiguredAgent | undefined, index: number) => {
  const from = agent.runtime === undefined ? (agent.command === undefined ? 'default' : 'command') : 'runtime'
  return [
    {
      key: `agents.${made?.name}.runtime`,
      value: made?.runtime ?? null,
      from: from === 'default' ? from : `agents[${index}].${from}`,
    },
  ]
}
