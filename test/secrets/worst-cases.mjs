// Hides secrets in one hostile text, given as a word that is repeated. Run as a process of its own, so that a hang can be ended.
const [, , module, word, size] = process.argv
const { hideSecrets } = await import(module)
hideSecrets(word.repeat(Math.ceil(Number(size) / word.length)))
