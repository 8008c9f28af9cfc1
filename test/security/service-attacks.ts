import type { Attack } from './stage.ts'

export const attacks: readonly Attack[] = []
