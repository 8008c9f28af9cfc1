import { sep } from 'node:path'
import type { Conversation } from '../../../domain/conversation/conversation.ts'
import { titleBegins, titleOf } from '../../../domain/conversation/title.ts'
import { defined } from '../../../domain/kernel/defined.ts'
import { ID_LENGTH, idEnding, SHORTEST_ENDING, shortestEnding, shortId } from '../../../domain/kernel/id-ending.ts'
import { agentSessionId, type ConversationId, conversationId, handoffId } from '../../../domain/kernel/ids.ts'
import type { Instant } from '../../../domain/kernel/instant.ts'
import type { IdKind } from '../../../ports/store/id-search.ts'
import type { HandoffHistory } from '../../../services/history/handoff-history.ts'
import { workspaceOf } from '../../place/workspace.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { conversationFolder } from '../render/conversation-rows.ts'
import { plain } from '../render/text.ts'
import { age } from '../render/times.ts'
import { notFound, textFlag } from './flag-values.ts'

/** The things that a command can be about, and whether it changes something. */
export interface SubjectRule {
  /** The kinds of things it can be about. A conversation stands for the newest of them in it. */
  readonly kinds: readonly IdKind[]
  /** The flag that names it in place of a word; `key` is always one. */
  readonly flag?: string
  /** It changes something: then nothing is guessed. */
  readonly isChange?: true
}

/** Titles are compared with so many conversations, the newest. */
const TITLES_SEARCHED = 300
const PAGE = 100

/** The word for the latest conversation of the store. */
const LAST = 'last'

/** The subject of a command, once it is asked for; a mistake in the words is found before that. */
export type FindSubject = (history: HandoffHistory) => Promise<NamedThing>

/**
 * The subject that the command line names, by a word, by a flag or by `--key`; without one the latest conversation of this
 * folder, unless the command changes something. The order of ways stands in docs/querying.md.
 *
 * @throws UsageError
 */
export const subjectIn = (invocation: Invocation, rule: SubjectRule): FindSubject => {
  const [word] = invocation.positionals
  const [flag, key] = [rule.flag && textFlag(invocation, rule.flag), textFlag(invocation, 'key')]
  const [name, another] = [word, flag, key].filter((given) => given !== undefined)
  if (another !== undefined || word?.trim() === '')
    throw new UsageError('Name it once: by its key, its id, "last" or the beginning of its title, or by --key KEY.')
  let found: Promise<NamedThing> | undefined
  return (history) => {
    found ??= key === undefined ? find(invocation, history, rule, name) : findByKey(history, key)
    return found
  }
}

/** Whether the command line names a subject. */
export const namesSubject = ({ positionals, values }: Invocation): boolean =>
  positionals.length > 0 || values.key !== undefined

/** The conversation that a flag names in any way, for a list that it narrows down; nothing where it is not given. */
export const conversationFlag = (invocation: Invocation, flag: string) => {
  const name = textFlag(invocation, flag)
  let found: Promise<NamedThing> | undefined
  return async (history: HandoffHistory): Promise<ConversationId | undefined> => {
    if (name === undefined) return undefined
    found ??= find(invocation, history, { kinds: ['conversation'] }, name)
    return conversationId((await found).id)
  }
}

const find = async (
  invocation: Invocation,
  history: HandoffHistory,
  rule: SubjectRule,
  name: string | undefined,
): Promise<NamedThing> => {
  if (name === undefined) return chosen(invocation, await latestHere(history), 'the latest of this folder')
  const exact = (await keyed(history, name)) ?? (await ended(history, rule, name))
  if (exact !== undefined) return exact
  if (rule.isChange === true || name.length === ID_LENGTH) throw nothing(rule, name)
  if (name === LAST) return chosen(invocation, await latestOfAll(history), 'the latest of the store')
  return titled(invocation, history, rule, name)
}

const findByKey = async (history: HandoffHistory, key: string): Promise<NamedThing> => {
  const found = await keyed(history, key)
  if (found === undefined) throw notFound('key', `no conversation has the key "${key}"`)
  return found
}

const keyed = async (history: HandoffHistory, key: string): Promise<NamedThing | undefined> => {
  const found = await history.conversationByKey(key)
  return found && { kind: 'conversation', id: found.id }
}

/** The one thing whose id is this, or ends so. */
const ended = async (history: HandoffHistory, rule: SubjectRule, text: string): Promise<NamedThing | undefined> => {
  if (idEnding(text) === undefined) return undefined
  const found: NamedThing[] = []
  for (const kind of new Set<IdKind>([...rule.kinds, 'conversation']))
    for (const id of await history.idsEnding(kind, text, MOST_LISTED + 1)) found.push({ kind, id })
  if (found.length > 1) throw await ambiguous(history, text, found)
  return found[0]
}

const titled = async (
  invocation: Invocation,
  history: HandoffHistory,
  rule: SubjectRule,
  words: string,
): Promise<NamedThing> => {
  const found: Conversation[] = []
  let after: string | undefined
  for (let seen = 0; seen < TITLES_SEARCHED; seen += PAGE) {
    const page = await history.listConversations({ order: 'newest_first' }, defined({ after, limit: PAGE }))
    found.push(...page.items.filter((conversation) => titleBegins(titleOf(conversation), words)))
    after = page.next
    if (after === undefined) break
  }
  const [only, another] = found
  if (only === undefined) throw nothing(rule, words)
  if (another === undefined) return chosen(invocation, only, 'by its title')
  throw await ambiguous(
    history,
    words,
    found.map(({ id }) => ({ kind: 'conversation', id })),
  )
}

/** A conversation that was not named exactly is said, so that nobody reads another one by mistake. */
const chosen = ({ notes }: Invocation, conversation: Conversation | undefined, why: string): NamedThing => {
  if (conversation === undefined)
    throw notFound('conversation', `there is none: ${HERE[why] ?? ''}"baton conversations list" shows what there is`)
  notes.line(`Conversation: ${shortId(conversation.id)}  ${titleOf(conversation)} (${why})`)
  return { kind: 'conversation', id: conversation.id }
}

const HERE: Readonly<Record<string, string>> = {
  'the latest of this folder': 'none has worked in this folder. Name one; ',
}

const nothing = ({ kinds, isChange }: SubjectRule, text: string) => {
  const what = [...new Set([...kinds, 'conversation'])].join(', ').replace(/, (\w+)$/, ' or $1')
  if (text.length === ID_LENGTH && idEnding(text) !== undefined)
    return notFound('id', `there is no ${what} with the id ${text}`)
  const ways = isChange === true ? '' : `, no title of the newest ${TITLES_SEARCHED} conversations begins so`
  const hint = isChange === true ? 'A command that changes something takes no title and no "last"' : SHOWN
  const ids = `no ${what} has an id that ends so (${SHORTEST_ENDING} characters or more)`
  return notFound('name', `nothing is called "${plain(text)}": it is no key, ${ids}${ways}. ${hint}`)
}

const SHOWN = '"baton conversations list" shows what there is'

/** The conversation that a thing belongs to. */
export const conversationOf = async (history: HandoffHistory, { kind, id }: NamedThing): Promise<ConversationId> => {
  if (kind === 'conversation') return conversationId(id)
  const found = kind === 'handoff' ? await history.handoff(handoffId(id)) : await history.session(agentSessionId(id))
  if (found === undefined) throw notFound('id', `there is no ${kind} with the id ${id}`)
  return found.conversationId
}

/** A thing that exists, and the kind of thing it is. */
export interface NamedThing {
  readonly kind: IdKind
  readonly id: string
}

/** How many of several matches are listed. */
const MOST_LISTED = 10

/** The refusal of a word that means several things. It lists them, each by as much of its id as tells it from the others. */
const ambiguous = async (
  history: HandoffHistory,
  word: string,
  found: readonly NamedThing[],
): Promise<CommandNotCompleted> => {
  const length = shortestEnding(found.map(({ id }) => id))
  const listed = await Promise.all(found.slice(0, MOST_LISTED).map((thing) => lineOf(history, thing, length)))
  const more = found.length > MOST_LISTED ? ['  … and more'] : []
  const head = `"${plain(word)}" means several things. Name one by its short id: (name.ambiguous)`
  return new CommandNotCompleted([head, ...listed, ...more].join('\n'), EXIT.refused)
}

const lineOf = async (history: HandoffHistory, thing: NamedThing, length: number): Promise<string> => {
  const { at, of } = await aboutOf(history, thing)
  const conversation = of && (await history.conversation(of))
  return [
    `  ${thing.id.slice(-length)}`,
    ...(thing.kind === 'conversation' ? [] : [thing.kind]),
    ...(conversation === undefined ? [] : [titleOf(conversation)]),
    ...(at === undefined ? [] : [age(at, Date.now())]),
  ].join('  ')
}

interface About {
  readonly at?: Instant
  readonly of?: ConversationId
}

const aboutOf = async (history: HandoffHistory, { kind, id }: NamedThing): Promise<About> => {
  if (kind === 'session') {
    const session = await history.session(agentSessionId(id))
    return session === undefined ? {} : { at: session.startedAt, of: session.conversationId }
  }
  if (kind === 'handoff') {
    const handoff = await history.handoff(handoffId(id))
    return handoff === undefined ? {} : { at: handoff.initiatedAt, of: handoff.conversationId }
  }
  const found: Conversation | undefined =
    kind === 'conversation' ? await history.conversation(conversationId(id)) : undefined
  return found === undefined ? {} : { at: found.openedAt, of: found.id }
}

/** So many of the newest sessions are looked at for one that worked here. */
const MOST_SESSIONS = 100

/** The conversation whose session was started last; without any session, the one that was opened last. */
const latestOfAll = async (history: HandoffHistory): Promise<Conversation | undefined> => {
  const [session] = (await history.listSessions({ order: 'newest_first' }, { limit: 1 })).items
  if (session !== undefined) return history.conversation(session.conversationId)
  return (await history.listConversations({ order: 'newest_first' }, { limit: 1 })).items[0]
}

/**
 * The conversation that worked last in the workspace around a folder, or else in a folder above it. One in which something
 * was said goes before one that was only started.
 */
const latestHere = async (
  history: HandoffHistory,
  folder: string = process.cwd(),
): Promise<Conversation | undefined> => {
  const here = workspaceOf(folder)
  if (here === undefined) return undefined
  const candidates = await newestConversations(history)
  const above = (place: string): boolean => here.startsWith(place.endsWith(sep) ? place : `${place}${sep}`)
  for (const isNear of [(place: string) => place === here, above])
    for (const conversation of candidates) {
      const place = workspaceOf(conversationFolder(conversation) ?? '')
      if (place !== undefined && isNear(place)) return conversation
    }
  return undefined
}

/** The conversations of the newest sessions; those in which something was said first. */
const newestConversations = async (history: HandoffHistory): Promise<readonly Conversation[]> => {
  const { items } = await history.listSessions({ order: 'newest_first' }, { limit: MOST_SESSIONS })
  const spoken = items.filter(({ progress }) => progress.turns > 0)
  const ids = new Set([...spoken, ...items].map(({ conversationId }) => conversationId))
  const found = await Promise.all([...ids].map((id) => history.conversation(id)))
  return found.filter((conversation) => conversation !== undefined)
}
