import type { z } from 'zod'
import { HttpProblem } from './problems.ts'

/** The largest body that is read. */
const LARGEST_BODY_BYTES = 1024 * 1024

const tooLarge = (): HttpProblem =>
  new HttpProblem(413, 'body.too_large', 'The body is larger than 1 MiB. Leave large texts out, such as tool results.')

/** Reads the JSON of a request, and no more of it than is allowed, whatever its headers say. */
export const readJson = async (request: Request): Promise<unknown> => {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json')
    throw new HttpProblem(
      415,
      'body.not_json',
      'The body must be JSON. Send the header content-type: application/json.',
    )
  if (Number(request.headers.get('content-length') ?? 0) > LARGEST_BODY_BYTES) throw tooLarge()
  const text = await readText(request)
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpProblem(400, 'input.invalid', 'The body is no JSON. Send one JSON object.')
  }
}

const readText = async ({ body }: Request): Promise<string> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  const reader = body?.getReader()
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    bytes += part.value.length
    if (bytes > LARGEST_BODY_BYTES) {
      await reader?.cancel().catch(() => {})
      throw tooLarge()
    }
    parts.push(part.value)
  }
  return new TextDecoder().decode(Buffer.concat(parts))
}

/** The value as its schema has it. @throws HttpProblem that names every field */
export const checked = <T extends z.ZodType>(schema: T, value: unknown): z.output<T> => {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const problems = parsed.error.issues.slice(0, 10).map(({ path, message }) => {
    const field = path.map(String).join('.').slice(0, 200)
    return `The ${field === '' ? 'body' : `field ${field}`} cannot be used: ${message}.`
  })
  throw new HttpProblem(400, 'input.invalid', problems.join(' '))
}
