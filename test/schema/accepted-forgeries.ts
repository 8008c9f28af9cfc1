export const REASONS: Readonly<Record<string, readonly string[]>> = {}
