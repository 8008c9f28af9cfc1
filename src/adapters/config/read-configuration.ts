import type { z } from 'zod'
import { defined } from '../../domain/kernel/defined.ts'
import { type CheckedConfiguration, ConfigurationError } from '../../domain/run/run-configuration.ts'
import { AGENT_KEYS, type KnownAgents } from './agent-schema.ts'
import { fileText } from './file-text.ts'
import { milestoneClaims, thresholdProblems, thresholdRemarks } from './milestone-claims.ts'
import {
  conflictsIn,
  type FoundProblem,
  orderProblems,
  pathText,
  type SettingPath,
  type SettledMilestones,
  settleMilestones,
} from './milestone-settings.ts'
import { type ParsedText, parseText } from './parse-text.ts'
import { placeOfKey, schemaFor } from './schema.ts'
import { templatesIn } from './template-file.ts'
import { threadProblems } from './thread-schema.ts'
import { agentMilestones, agentProblems } from './to-agents.ts'
import { toConfiguration } from './to-configuration.ts'
import { placeProblems } from './to-workspace.ts'

/** Reads a configuration: a file by its name, or an object. `src/main/configuration.ts` publishes it. @throws ConfigurationError */
export const readConfigurationFor = async (
  fileOrObject: string | object,
  agents: KnownAgents,
): Promise<CheckedConfiguration> => {
  if (typeof fileOrObject !== 'string') return check({ content: fileOrObject, lineOf: () => undefined }, agents)
  try {
    return await readFrom(fileOrObject, agents)
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error
    throw new ConfigurationError(error.problems, defined({ cause: error.cause, file: fileOrObject }))
  }
}

const readFrom = async (file: string, agents: KnownAgents): Promise<CheckedConfiguration> => {
  const text = await fileText(file, 'YAML or JSON')
  if (typeof text !== 'string') {
    const { cause, ...problem } = text
    throw new ConfigurationError([{ path: '', ...problem }], { cause })
  }
  return check(parseText(text, file.toLowerCase().endsWith('.json')), agents, file)
}

/** An empty file is a configuration in which nothing is written. */
const check = async (
  { content: given, lineOf }: ParsedText,
  agents: KnownAgents,
  file?: string,
): Promise<CheckedConfiguration> => {
  const content = given ?? {}
  const whole = milestoneClaims(content)
  const { claims, isList, isPartial } = whole
  const parsed = schemaFor(isList, agents).safeParse(content)
  const settled = settleMilestones(claims, isList)
  const both = thresholdProblems(content)
  const ofAgents = agentMilestones(content, whole)
  const templates = parsed.data === undefined ? { texts: {}, problems: [] } : await templatesIn(parsed.data, file)
  const problems = [
    ...(parsed.error?.issues ?? []).flatMap(problemsIn),
    ...both,
    ...(both.length > 0 ? [] : conflictsIn(claims)),
    ...(isPartial ? [] : orderProblems(settled.settings)),
    ...ofAgents.problems,
    ...(parsed.data === undefined
      ? []
      : [
          ...placeProblems(parsed.data),
          ...agentProblems(parsed.data, agents),
          ...threadProblems(parsed.data, inForce(settled)),
        ]),
    ...templates.problems,
  ]
  if (parsed.data === undefined || problems.length > 0) throw errorOf(problems, lineOf)
  const checked = toConfiguration(parsed.data, settled, templates.texts, ofAgents.settled)
  const bases = [[], ...checked.configuration.agents.map((_, index) => ['agents', index])]
  return { ...checked, remarks: [...checked.remarks, ...bases.flatMap((base) => thresholdRemarks(content, base))] }
}

const inForce = ({ settings }: SettledMilestones): readonly string[] =>
  settings.flatMap(({ name, at }) => (at === null ? [] : [name]))

/** One problem of each key that is not known, and one of anything else. */
const problemsIn = (issue: z.core.$ZodIssue): readonly FoundProblem[] => {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)))
  const [first = '', second = ''] = issue.message.split('\n')
  if (issue.code !== 'unrecognized_keys') return [{ path, problem: first, advice: second }]
  const advice = issue.message.split('\n')
  return issue.keys.map((key, index) => ({
    path: [...path, key],
    problem: 'there is no such key',
    advice: adviceAgainst(key) ?? elsewhere(key, path) ?? advice[index] ?? '',
  }))
}

const elsewhere = (key: string, [top]: SettingPath): string | undefined => {
  const place = placeOfKey(key)
  if (place === undefined) return undefined
  const isForAll = top === 'agents' && !AGENT_KEYS.includes(place.split('.')[0] ?? '')
  return isForAll ? `It is the same for all agents: write ${place}, outside of agents.` : `Did you mean "${place}"?`
}

/** In the order of the file, where there is one. */
const errorOf = (problems: readonly FoundProblem[], lineOf: (path: SettingPath) => number | undefined) =>
  new ConfigurationError(
    problems
      .map(({ path, problem, advice }) => defined({ path: pathText(path), problem, advice, line: lineOf(path) }))
      .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)),
  )

const NETWORKS =
  'A configuration may come from anywhere, so it cannot open networks. Use allowNetworks in code, or --allow-network.'

/** Keys that people look for in a file and that only a program or a flag may say, compared without case and marks. */
const NOT_FOR_FILES: Readonly<Record<string, string>> = {
  allownetwork: NETWORKS,
  allownetworks: NETWORKS,
  allowednetworks: NETWORKS,
}

/** Where to say instead what a file may not, if the key is of that kind. */
const adviceAgainst = (key: string): string | undefined => {
  const word = key
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[_\-\s]/g, '')
  return Object.hasOwn(NOT_FOR_FILES, word) ? NOT_FOR_FILES[word] : undefined
}
