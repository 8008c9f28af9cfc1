/** A piece of work: a planner hands it to the first of these agents, who may hand it to the next. */
export interface Job {
  readonly number: number
  readonly chain: readonly string[]
}

const FIRST: readonly string[] = ['coder', 'tester', 'reviewer']

/** Jobs with so many handoffs in all. One in five is handed on once more: to another worker, or within one. */
export const jobsOf = (handoffs: number): readonly Job[] => {
  const jobs: Job[] = []
  for (let left = handoffs; left > 0; ) {
    const number = jobs.length + 1
    const isHandedOn = number % 5 === 0 && left > 1
    const chain = isHandedOn ? ['coder', number % 2 === 0 ? 'reviewer' : 'tester'] : [FIRST[number % 3] ?? 'coder']
    jobs.push({ number, chain })
    left -= chain.length
  }
  return jobs
}

/** The task of a job, which tells every agent what to do. */
export const taskOf = ({ number, chain }: Job): string => `Job ${number} is for ${chain.join(', then ')}.`

/** The key of a job's conversation. */
export const keyOf = ({ number }: Job): string => `job-${number}`

/** The job that a prompt speaks of. */
export const jobIn = (prompt: string): Job | undefined => {
  const [, number, chain] = /Job (\d+) is for ([a-z, ]+)\./.exec(prompt) ?? []
  return number === undefined || chain === undefined
    ? undefined
    : { number: Number(number), chain: chain.split(', then ') }
}

/** The agents of a worker, by its place. Nobody works for all: what a coder hands to a reviewer changes the worker. */
export const agentsOf = (place: number): readonly string[] =>
  place % 2 === 0 ? ['coder', 'tester'] : ['tester', 'reviewer']
