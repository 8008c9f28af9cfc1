import { type Redactor, redactionIn, redactorFor, serviceFolder } from '../../command-parts.ts'
import type { CheckedConfiguration } from '../../domain/run/configuration.ts'
import type { RedactionCounts } from '../../domain/secrets/redaction-settings.ts'
import type { Invocation } from './command.ts'
import { plain } from './render-text.ts'

/**
 * The redactor of a command: as the configuration that it is given says, else as the person's own in the folder of the
 * service, else the built-in rules.
 */
export const redactorIn = async (invocation: Invocation, checked?: CheckedConfiguration): Promise<Redactor> => {
  const { environment, notes, values } = invocation
  // An empty one is refused by the choice of the store, in its own words.
  const given = values['data-dir']
  const { folder } = serviceFolder(environment, typeof given === 'string' && given.trim() !== '' ? given : undefined)
  const settings = checked?.configuration.redact ?? (await redactionIn(folder))
  const told = new Set<string>()
  const onWithheld = (why: string): void => {
    if (told.has(why)) return
    told.add(why)
    notes.line(`Warning: text is withheld from the record, because ${plain(why)}.`)
  }
  return redactorFor(settings, { environment, onWithheld })
}

/** How much was hidden, as a sentence. Nothing where nothing was. */
export const hiddenText = ({ hidden, withheld }: RedactionCounts): string | undefined => {
  const parts = [
    ...(hidden === 0 ? [] : [`${hidden} ${hidden === 1 ? 'secret was' : 'secrets were'} hidden`]),
    ...(withheld === 0 ? [] : [`${withheld} ${withheld === 1 ? 'text was' : 'texts were'} withheld`]),
  ]
  return parts.length === 0 ? undefined : `${parts.join(', ')}, and kept out of the record.`
}

/** Says on the side how much was hidden. */
export const sayHidden = ({ notes }: Pick<Invocation, 'notes'>, redactor: Redactor): void => {
  const text = hiddenText(redactor.counts())
  if (text !== undefined) notes.line(text)
}
