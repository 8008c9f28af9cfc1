import type { z } from 'zod'
import { HttpProblem } from './http-problem.ts'

/** The largest body that is read. */
const LARGEST_BODY_BYTES = 1024 * 1024

const tooLarge = (most: number): HttpProblem => {
  const size = `${most / 1024 / 1024} MiB`
  const problem = `The body is larger than ${size}. Leave large texts out, such as tool results.`
  return new HttpProblem(413, 'body.too_large', problem)
}

/** Reads the JSON of a request, and no more of it than is allowed, whatever its headers say. */
export const readJson = async (request: Request, most: number = LARGEST_BODY_BYTES): Promise<unknown> => {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase()
  if (type !== 'application/json')
    throw new HttpProblem(
      415,
      'body.not_json',
      'The body must be JSON. Send the header content-type: application/json.',
    )
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge(most)
  const text = await readText(request, most)
  try {
    return JSON.parse(text)
  } catch {
    throw new HttpProblem(400, 'input.invalid', 'The body is no JSON. Send one JSON object.')
  }
}

const readText = async ({ body }: Request, most: number): Promise<string> => {
  const parts: Uint8Array[] = []
  let bytes = 0
  const reader = body?.getReader()
  for (let part = await reader?.read(); part !== undefined && !part.done; part = await reader?.read()) {
    bytes += part.value.length
    if (bytes > most) {
      await reader?.cancel().catch(() => {})
      throw tooLarge(most)
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
