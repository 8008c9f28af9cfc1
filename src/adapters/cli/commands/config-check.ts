import { existsSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined } from '../../../domain/kernel/defined.ts'
import { describeFullWindow } from '../../../domain/run/full-window.ts'
import { CONFIGURATION_FILES, ConfigurationError } from '../../../domain/run/run-configuration.ts'
import { RefusedError } from '../../../domain/unwrap.ts'
import { readConfiguration } from '../../../main/configuration.ts'
import { foreseenRefusals } from '../../hooks/foreseen-refusals.ts'
import { allowedNetworks } from '../choose/network-flags.ts'
import { UsageError } from '../invocation/command-problems.ts'
import type { Invocation, Run } from '../invocation/invocation.ts'
import { renderConfiguration, renderProblems } from '../render/configuration-lines.ts'
import { toJson } from '../render/text.ts'

/** Says what a configuration file amounts to, or what is wrong with it. Nothing is opened or started. */
export const configCheck: Run = async (invocation) => {
  const [named] = invocation.positionals
  const file = named ?? usualFile()
  if (!existsSync(file)) throw new UsageError(`There is no file "${file}".`)
  try {
    await showSettings(file, invocation)
  } catch (problem) {
    if (!(problem instanceof ConfigurationError)) throw problem
    throw refusal(file, problem, invocation)
  }
}

const usualFile = (): string => {
  const there = CONFIGURATION_FILES.filter((file) => existsSync(file))
  const [only] = there
  if (only === undefined) throw new UsageError(`There is no ${CONFIGURATION_FILES.join(', ')} here. Name a file.`)
  if (there.length > 1) throw new UsageError(`There are ${there.join(' and ')} here. Keep one, or name the file.`)
  return only
}

const showSettings = async (file: string, invocation: Invocation): Promise<void> => {
  const { values, out, environment } = invocation
  const allowNetworks = allowedNetworks(invocation)
  const { configuration, settings, remarks: remarked } = await readConfiguration(file)
  // An agent's hooks are its own and those of all that it does not replace.
  const hooks = [...new Set([...configuration.hooks, ...configuration.agents.flatMap((agent) => agent.hooks)])]
  const remarks = [...remarked, ...foreseenRefusals(hooks, defined({ environment, allowNetworks }))]
  const fullWindow = describeFullWindow(configuration)
  out.line(
    values.json === true
      ? toJson({ file, settings, fullWindow, remarks })
      : renderConfiguration(
          file,
          settings,
          defined({ fullWindow, remarks, schemaLine: schemaLineFor(file) }),
          out.columns,
        ),
  )
}

/** The schema that comes with the program; this file and its compiled form are equally deep. */
const SCHEMA = new URL('../../../../docs/schemas/configuration.json', import.meta.url)

/** The first line that names the schema, from the folder of the file, unless the file names one. */
const schemaLineFor = (file: string): string | undefined => {
  const schema = fileURLToPath(SCHEMA)
  if (!existsSync(schema) || /\$schema/.test(readFileSync(file, 'utf8').slice(0, 1_000))) return undefined
  const way = relative(dirname(resolve(file)), schema)
  const path = way.startsWith('..') ? schema : `./${way}`
  return file.toLowerCase().endsWith('.json')
    ? `"$schema": ${JSON.stringify(path)},`
    : `# yaml-language-server: $schema=${path}`
}

/** Problems are what was asked for, so they are results; that there are any is the refusal. */
const refusal = (file: string, { problems }: ConfigurationError, { values, out }: Invocation): RefusedError => {
  out.line(values.json === true ? toJson({ file, problems }) : renderProblems(problems, file))
  const problem = `it has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}`
  return new RefusedError({ code: 'input.invalid', fields: [{ field: `configuration ${file}`, problem }] })
}
