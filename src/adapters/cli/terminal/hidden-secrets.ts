import type { CheckedConfiguration } from '../../../domain/run/configuration.ts'
import type { RedactionCounts } from '../../../domain/secrets/redaction-settings.ts'
import { type Redactor, redactionIn, redactorFor } from '../../../main/redaction.ts'
import { homeStore } from '../../place/home-folder.ts'
import { serviceIn } from '../choose/store-options.ts'
import { plain } from '../render/render-text.ts'
import type { Invocation } from '../tree/command.ts'

/**
 * The redactor of a command: as the configuration that it is given says, else as the person's own in the folder of the
 * service or in the home folder, else the built-in rules.
 */
export const redactorIn = async (invocation: Invocation, checked?: CheckedConfiguration): Promise<Redactor> => {
  const { environment, notes } = invocation
  const settings = checked?.configuration.redact ?? (await redactionIn(...foldersOf(invocation)))
  const told = new Set<string>()
  const onWithheld = (why: string): void => {
    if (told.has(why)) return
    told.add(why)
    notes.line(`Warning: text is withheld from the record, because ${plain(why)}.`)
  }
  return redactorFor(settings, { environment, onWithheld })
}

/** A store that cannot be chosen is refused where it is opened, in the words of that. */
const foldersOf = (invocation: Invocation): readonly string[] => {
  const own = homeStore(invocation.environment)
  try {
    return [serviceIn(invocation).folder, own]
  } catch {
    return [own]
  }
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
