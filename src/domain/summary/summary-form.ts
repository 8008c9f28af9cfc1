import { partsOf } from './summary-parts.ts'

/** Whether a text has the form of a summary: an objective, and at least two of the other parts. */
export const isStructured = (text: string): boolean => {
  const parts = partsOf(text)
  return (parts.get('Objective')?.length ?? 0) > 0 && parts.size > 2
}
