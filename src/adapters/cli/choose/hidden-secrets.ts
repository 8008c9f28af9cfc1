import type { CheckedConfiguration } from '../../../domain/run/run-configuration.ts'
import type { Redactor } from '../../../main/redaction.ts'
import { homeStore } from '../../place/home-folder.ts'
import type { Invocation } from '../invocation/invocation.ts'
import { hiddenText } from '../render/hidden-count.ts'
import { plain } from '../render/text.ts'
import { serviceIn } from './store-options.ts'

/**
 * The redactor of a command: as the configuration that it is given says, else as the person's own in the folder of the
 * service or in the home folder, else the built-in rules.
 */
export const redactorIn = async (invocation: Invocation, checked?: CheckedConfiguration): Promise<Redactor> => {
  // Loaded here: a command that only reads hides nothing.
  const { redactionIn, redactorFor } = await import('../../../main/redaction.ts')
  const { environment, notes } = invocation
  const settings = checked?.configuration.redact ?? (await redactionIn(...foldersOf(invocation)))
  const reasons = new Set<string>()
  const onWithheld = (why: string): void => {
    if (reasons.has(why)) return
    reasons.add(why)
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

/** Says on the side how much was hidden. */
export const sayHidden = ({ notes }: Pick<Invocation, 'notes'>, redactor: Redactor): void => {
  const text = hiddenText(redactor.counts())
  if (text !== undefined) notes.line(text)
}
