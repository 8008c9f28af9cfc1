const NETWORKS =
  'A configuration may come from anywhere, so it cannot open networks. Use allowNetworks in code, or --allow-network.'

/** Keys that people look for in a file and that only a program or a flag may say, compared without case and marks. */
const NOT_FOR_FILES: Readonly<Record<string, string>> = {
  allownetwork: NETWORKS,
  allownetworks: NETWORKS,
  allowednetworks: NETWORKS,
}

/** Where to say instead what a file may not, if the key is of that kind. */
export const adviceAgainst = (key: string): string | undefined => {
  const word = key
    .slice(0, 64)
    .toLowerCase()
    .replaceAll(/[_\-\s]/g, '')
  return Object.hasOwn(NOT_FOR_FILES, word) ? NOT_FOR_FILES[word] : undefined
}
