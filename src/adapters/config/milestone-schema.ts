import { formOf, fraction, list, section } from './values.ts'

/** The milestones as a list of fractions. */
export const milestoneList = list(fraction, '[0.5, 0.65, 0.85]')

/** The milestones by name. */
export const milestonesByName = section({
  warning: fraction.nullable().optional(),
  critical: fraction.nullable().optional(),
  restart: fraction.nullable().optional(),
})

/** The milestones in either form. */
export const milestonesSchema = formOf(Array.isArray, milestoneList, milestonesByName)
