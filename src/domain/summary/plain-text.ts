import { withoutEnd } from '../kernel/without-end.ts'

const HEADING = /^ {0,3}#{1,6}[ \t](.*)$/
const ITEM = /^\s*(?:[-*+]|\d{1,9}[.)])\s+/
const LINK = /!?\[([^\][]{0,500})\]\([^()\s]{0,2000}\)/g

/** A text in markdown without its markup, for lists and searches: a heading and what stands below it are one line. */
export const plainText = (markdown: string): string => {
  const plain: string[][] = []
  let below: string[] | undefined
  for (const line of markdown.split(/\r?\n/)) {
    const heading = HEADING.exec(line)
    const text = unmarked(heading === null ? line.replace(ITEM, '') : withoutEnd(heading[1] ?? '', /[ \t#]/)).trim()
    if (heading !== null) {
      below = [`${text}:`]
      plain.push(below)
    } else if (text === '') continue
    else if (below === undefined) plain.push([text])
    else below.push(text)
  }
  return plain.map((line) => line.join(' ')).join('\n')
}

const unmarked = (text: string): string => text.replaceAll(LINK, '$1').replaceAll(/\*\*|__|`/g, '')
