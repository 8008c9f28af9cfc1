import { ok, type Result } from '../../domain/kernel/result.ts'
import {
  changed,
  type IsMade,
  itemsOf,
  type JsonDocument,
  type JsonNode,
  type JsonPath,
  membersOf,
  misshapen,
  textOf,
  valueAt,
  withObjects,
  withoutEmpty,
} from './json-document.ts'
import { withItem, withMember, withoutChild, withValue } from './json-edit.ts'
import { type OwnHook, ownHookIn } from './own-hook.ts'
import type { TextProblem } from './refusal.ts'

/** The hooks to name in settings: the runtime's name of each, and the command it is to run. */
export interface WantedHooks {
  readonly hooks: Readonly<Record<string, string>>
  readonly program: string
}

/** A hook in settings that calls ours. */
export interface HookEntry extends OwnHook {
  /** The name the runtime has for it. */
  readonly name: string
  readonly command: JsonNode
}

interface Found extends HookEntry {
  readonly group: JsonNode
  readonly handler: JsonNode
  /** Whether it is the only hook of its group. */
  readonly isAlone: boolean
}

const HOOKS: JsonPath = ['hooks']

/** Every hook in settings that calls ours. */
export const hookEntriesIn = (document: JsonDocument): readonly HookEntry[] => foundIn(document)

const foundIn = ({ root }: JsonDocument): readonly Found[] =>
  membersOf(valueAt(root, HOOKS)).flatMap(({ key: name, value: groups }) =>
    (itemsOf(groups) ?? []).flatMap((group) => foundInGroup(name, group)),
  )

const foundInGroup = (name: string, group: JsonNode): readonly Found[] => {
  const handlers = itemsOf(valueAt(group, HOOKS)) ?? []
  return handlers.flatMap((handler) => {
    const command = valueAt(handler, ['command'])
    const own = ownHookIn(textOf(command) ?? '')
    const isAlone = handlers.length === 1
    return own === undefined || command === undefined ? [] : [{ ...own, name, command, group, handler, isAlone }]
  })
}

/** Adds the hooks that are missing, and names the program anew in those that are there. */
export const withHooks = (document: JsonDocument, wanted: WantedHooks): Result<JsonDocument, TextProblem> => {
  const shaped = wellShaped(document)
  if (!shaped.ok) return shaped
  let now = withProgram(document, wanted.program)
  const answered = hookEntriesIn(now).map(({ event }) => event)
  for (const [name, command] of Object.entries(wanted.hooks)) {
    if (answered.includes(ownHookIn(command)?.event ?? '')) continue
    const ready = withObjects(now, HOOKS)
    if (!ready.ok) return ready
    now = withHook(ready.value, name, command)
  }
  return ok(now)
}

const withHook = (document: JsonDocument, name: string, command: string): JsonDocument => {
  const group = { hooks: [{ type: 'command', command }] }
  const hooks = valueAt(document.root, HOOKS)
  const groups = valueAt(hooks, [name])
  if (groups?.type === 'array') return changed(document, withItem(document.text, groups, group))
  if (hooks === undefined) return document
  return changed(document, withMember(document.text, hooks, name, [group]), [[...HOOKS, name]])
}

const withProgram = (document: JsonDocument, program: string): JsonDocument => {
  const old = foundIn(document).find((entry) => !entry.isMixed && entry.program !== program)
  if (old === undefined) return document
  const command = JSON.stringify(`${program} hook ${old.event}${old.rest}`)
  return withProgram(changed(document, withValue(document.text, old.command, command)), program)
}

/** Takes our hooks out, and every list that was only there for them. */
export const withoutHooks = (document: JsonDocument, isMade: IsMade): JsonDocument => {
  const found = foundIn(document).find(({ isMixed }) => !isMixed)
  if (found === undefined) return document
  const { name, group, handler, isAlone } = found
  const text = withoutChild(document.text, isAlone ? group : handler)
  return withoutHooks(withoutEmpty(changed(document, text), [...HOOKS, name], isMade), isMade)
}

/** Whether hooks have the shape that runtimes take: lists of groups by name, each with a list of hooks. */
const wellShaped = ({ root }: JsonDocument): Result<undefined, TextProblem> => {
  const hooks = valueAt(root, HOOKS)
  if (hooks !== undefined && hooks.type !== 'object') return misshapen(HOOKS, 'an object')
  for (const { key, value } of membersOf(hooks)) {
    const groups = itemsOf(value)
    if (groups === undefined) return misshapen([...HOOKS, key], 'a list')
    for (const group of groups)
      if (itemsOf(valueAt(group, HOOKS)) === undefined)
        return misshapen([...HOOKS, key], 'a list of objects that have "hooks"')
  }
  return ok(undefined)
}
