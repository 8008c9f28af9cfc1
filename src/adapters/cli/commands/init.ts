import { adoptProject, makeProject, moveProject, type ProjectMade } from '../../../main/project-store.ts'
import { workingFolder } from '../../place/home-folder.ts'
import { CommandNotCompleted, UsageError } from '../invocation/command-problems.ts'
import { EXIT } from '../invocation/exit-codes.ts'
import type { Run } from '../invocation/invocation.ts'
import { plain, toJson } from '../render/text.ts'

/** Makes a project store, adopts one that is there, or moves one to the home folder. */
export const initCommand: Run = async (invocation) => {
  const { values, positionals, environment, out } = invocation
  if (values.adopt === true && values.move === true)
    throw new UsageError('--adopt keeps the store where it is, and --move moves it away. Leave one out.')
  const question = { folder: positionals[0] ?? '.', environment, workingFolder: workingFolder() }
  const change = values.move === true ? moveProject : values.adopt === true ? adoptProject : makeProject
  const done = await change(question)
  if (!done.ok) {
    const {
      code,
      lines: [first = '', ...others],
    } = done.error
    throw new CommandNotCompleted([`${plain(first)} (${code})`, ...others.map(plain)].join('\n'), EXIT.refused)
  }
  if (values.json === true) return out.line(toJson(done.value))
  for (const line of sentencesOn(done.value)) out.line(plain(line))
}

const USED = 'Commands, hooks and programs in that folder and below it use it, unless another one is named.'

const sentencesOn = ({ state, path, left }: ProjectMade): readonly string[] => {
  switch (state) {
    case 'made':
      return [`Made a project store in ${path}. It is empty until something is recorded. ${USED}`]
    case 'already':
      return [`${path} is your project store already. ${USED}`]
    case 'adopted':
      return [`${path} is your project store now. ${USED}`]
    case 'moved':
      return [
        `The store is in ${path} now, and is used wherever no project has one of its own.`,
        ...(left.length === 0
          ? []
          : [`These stayed where they were, because ${path} has its own: ${left.join(', ')}.`]),
      ]
  }
}
