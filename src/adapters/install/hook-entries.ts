import { ok, type Result } from '../../domain/kernel/result.ts'
import { type OwnHook, ownHookIn } from './agent-settings.ts'
import {
  changed,
  type IsMade,
  type JsonDocument,
  type JsonPath,
  misshapen,
  nodeAt,
  withObjects,
  withoutEmpty,
} from './json-document.ts'
import { withItem, withMember, withoutChild, withValue } from './json-edit.ts'
import { type JsonArray, type JsonNode, memberOf, textOf } from './json-tree.ts'
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
  readonly groups: JsonArray
  readonly group: JsonNode
  readonly list: JsonArray
  readonly handler: JsonNode
}

const HOOKS: JsonPath = ['hooks']

/** Every hook in settings that calls ours. */
export const hookEntriesIn = (document: JsonDocument): readonly HookEntry[] => foundIn(document)

const foundIn = (document: JsonDocument): readonly Found[] => {
  const hooks = nodeAt(document, HOOKS)
  const members = hooks?.kind === 'object' ? hooks.children : []
  return members.flatMap(({ key: name, value: groups }) =>
    groups.kind === 'array' ? groups.children.flatMap((group) => foundInGroup(name, groups, group)) : [],
  )
}

const foundInGroup = (name: string, groups: JsonArray, group: JsonNode): readonly Found[] => {
  const list = memberOf(group, 'hooks')?.value
  if (list?.kind !== 'array') return []
  return list.children.flatMap((handler) => {
    const command = memberOf(handler, 'command')?.value
    const own = ownHookIn(textOf(command) ?? '')
    return own === undefined || command === undefined ? [] : [{ ...own, name, command, groups, group, list, handler }]
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
  const hooks = nodeAt(document, HOOKS)
  const groups = nodeAt(document, [...HOOKS, name])
  if (groups?.kind === 'array') return changed(document, withItem(document.text, groups, group))
  if (hooks?.kind !== 'object') return document
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
  const { name, groups, group, list, handler } = found
  const text =
    list.children.length > 1 ? withoutChild(document.text, list, handler) : withoutChild(document.text, groups, group)
  return withoutHooks(withoutEmpty(changed(document, text), [...HOOKS, name], isMade), isMade)
}

/** Whether hooks have the shape that runtimes take: lists of groups by name, each with a list of hooks. */
const wellShaped = (document: JsonDocument): Result<undefined, TextProblem> => {
  const hooks = nodeAt(document, HOOKS)
  if (hooks === undefined) return ok(undefined)
  if (hooks.kind !== 'object') return misshapen(HOOKS, 'an object')
  for (const { key, value } of hooks.children) {
    if (value.kind !== 'array') return misshapen([...HOOKS, key], 'a list')
    for (const group of value.children)
      if (memberOf(group, 'hooks')?.value.kind !== 'array')
        return misshapen([...HOOKS, key], 'a list of objects that have "hooks"')
  }
  return ok(undefined)
}
