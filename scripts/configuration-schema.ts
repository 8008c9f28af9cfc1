import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { fileSchema } from '../src/adapters/config/schema.ts'
import { FORMS } from '../src/adapters/config/values.ts'
import { KNOWN_AGENTS } from '../src/main/runtimes.ts'

/** Where the schema of a configuration file stands. */
export const CONFIGURATION_SCHEMA = 'docs/schemas/configuration.json'

const PAGE = new URL('../docs/configuration.md', import.meta.url)

type Node = Record<string, unknown>

/** What each key says, in the words of the guide: the last cell of its row. */
const descriptions = (): ReadonlyMap<string, string> => {
  const rows = readFileSync(PAGE, 'utf8').matchAll(/^\| (`[^|]+`) +\|(?:[^|\n]*\|)*? *([^|\n]+?) *\|$/gm)
  const words = new Map<string, string>()
  // The first row counts: it is about the whole file.
  for (const [, keys = '', text = ''] of rows)
    for (const [, key = ''] of keys.matchAll(/`([^`]+)`/g))
      if (!words.has(key)) words.set(key, text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1'))
  return words
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Puts the words of the guide beside each key. */
const described = (node: unknown, path: string, words: ReadonlyMap<string, string>): void => {
  if (!isNode(node)) return
  for (const [key, below] of Object.entries(isNode(node.properties) ? node.properties : {})) {
    const at = path === '' ? key : `${path}.${key}`
    const text = words.get(at)
    if (text !== undefined && isNode(below)) below.description = text
    described(below, at, words)
  }
  if (path === 'agents') described(node.items, '', words)
  for (const form of Array.isArray(node.anyOf) ? node.anyOf : []) described(form, path, words)
}

/** Says once what stands in several places: an agent may write much of what the whole file may. */
const sharedIn = ({ properties }: Node): void => {
  if (!isNode(properties)) return
  const [hooks] = formsOf(properties.hooks)
  const moments = isNode(hooks?.properties) ? hooks.properties : {}
  const [first = '', ...others] = Object.keys(moments)
  for (const moment of others) moments[moment] = { $ref: `#/properties/hooks/anyOf/0/properties/${first}` }
  const [list] = formsOf(properties.agents)
  const agent = isNode(list?.items) && isNode(list.items.properties) ? list.items.properties : {}
  for (const key of Object.keys(agent))
    if (key === 'hooks' || JSON.stringify(agent[key]) === JSON.stringify(properties[key]))
      agent[key] = { $ref: `#/properties/${key}` }
}

const formsOf = (node: unknown): readonly Node[] =>
  isNode(node) && Array.isArray(node.anyOf) ? node.anyOf.filter(isNode) : []

/** The schema of a configuration file, for editors. The reader itself checks more, and says more about a problem. */
export const configurationSchema = (): object => {
  const schemaOf = (schema: z.core.$ZodType): Node =>
    z.toJSONSchema(schema, {
      io: 'input',
      unrepresentable: 'any',
      reused: 'inline',
      override: ({ jsonSchema }) => {
        const node = jsonSchema as Node
        // A file cannot hold a function.
        if (Array.isArray(node.oneOf))
          node.oneOf = node.oneOf.filter((one) => !JSON.stringify(one).includes('"function"'))
        const forms = node[FORMS] as readonly z.core.$ZodType[] | undefined
        if (forms === undefined) return
        delete node[FORMS]
        node.anyOf = forms.map((form) => {
          const { $schema: _, ...inner } = schemaOf(form)
          return inner
        })
      },
    }) as Node
  const { $schema, ...rest } = schemaOf(fileSchema(KNOWN_AGENTS))
  sharedIn(rest)
  described(rest, '', descriptions())
  return { $schema, title: 'Configuration of Batonpass', ...rest }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(CONFIGURATION_SCHEMA, `${JSON.stringify(configurationSchema(), null, 2)}\n`)
