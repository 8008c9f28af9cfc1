import { onOneLine } from '../kernel/safe-text.ts'
import type { Conversation } from './conversation.ts'

/** The longest title, in characters: longer ones are no easier to recognise. */
const MOST = 60

const TERMINAL = 'Terminal session of '

/** The task of a terminal conversation: it is opened before its person has said anything. */
export const terminalTask = (agentName: string, folder: string | undefined): string =>
  `${TERMINAL}${agentName}${folder === undefined ? '' : ` in ${folder}`}`

/** Whether nobody wrote this task: the title is then what the person asks for first. */
export const isTerminalTask = (task: string): boolean => task.startsWith(TERMINAL)

/** The name by which a person recognises a conversation: the first line of what they asked for first. */
export const titleOf = ({ originalTask, asked: prompts }: Pick<Conversation, 'originalTask' | 'asked'>): string =>
  firstLine(isTerminalTask(originalTask) ? (prompts?.first?.prompt ?? prompts?.prompt ?? originalTask) : originalTask)

/** The first line with something in it, short enough for a title. */
export const firstLine = (text: string): string => {
  const words = text.split('\n').find((line) => line.trim() !== '')
  const title = [...asTyped(words ?? '')]
  return title.length > MOST
    ? `${title
        .slice(0, MOST - 1)
        .join('')
        .trimEnd()}…`
    : title.join('')
}

/** Words as a person types them: one space between two. */
const asTyped = (words: string): string => onOneLine(words.replaceAll(/\s+/g, ' ').trim())

/** Whether a title begins with these words, in upper or lower case. A title that was cut begins with more than it shows. */
export const titleBegins = (title: string, words: string): boolean => {
  const [shown, typed] = [title.replace(/…$/, '').toLowerCase(), asTyped(words).toLowerCase()]
  return typed !== '' && (shown.startsWith(typed) || (title.endsWith('…') && typed.startsWith(shown)))
}
