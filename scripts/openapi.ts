import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openApiDocument } from '../src/adapters/http/openapi.ts'
import { TERMINAL_AGENTS } from '../src/main/runtimes.ts'

/** Where the OpenAPI document of the service stands. */
export const openApiFile = 'docs/schemas/openapi.json'

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string }
  const agents = TERMINAL_AGENTS.map(({ name }) => name)
  mkdirSync(dirname(openApiFile), { recursive: true })
  writeFileSync(openApiFile, `${JSON.stringify(openApiDocument(version, agents), undefined, 2)}\n`)
}
