// `baton` whose service ends at once, as one does that cannot open its store.
if (process.argv[2] === 'serve') {
  console.log('the store is broken')
  process.exit(7)
}
await import('../../src/adapters/cli/main.ts')
