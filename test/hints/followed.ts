/** Commands that are filled in when they are printed, and followed as printed: by the test of this name. */
export const FOLLOWED: Readonly<Record<string, string>> = {
  'baton run --conversation ………': 'a thread handoff prints how to begin the thread',
  'baton thread cleanup --force': 'a thread handoff in another store',
  'baton thread handoff --apply': 'a thread handoff is applied with the words that were shown',
  'baton thread handoff --apply --as-shown --from …': 'a thread handoff that has more turns by now',
  'baton thread handoff --preview --from …': 'a thread handoff that has more turns by now',
  'baton migrate up…': 'a store on a server that lacks changes',
  'baton run PROMPT': 'a run without a prompt',
  'baton config check …': 'a configuration with many problems',
}

/** Commands that are named, and cannot be followed here; each with the reason. */
export const NOT_FOLLOWED: Readonly<Record<string, string>> = {
  'baton hook …': 'names the program in its own log',
  'baton hook needs the name of a hook': 'names the program, not a command',
  'baton replay': 'help: says which records it reads',
  'baton run': 'help: compares one command with another',
  'baton claude install': 'this baton is one file of a test, which is not written into settings: test/install types it',
  'baton codex install': 'this baton is one file of a test, which is not written into settings: test/install types it',
  'baton claude install --scope local': 'this baton is one file of a test: test/install/scopes.test.ts types it',
  'baton claude uninstall --scope …': 'needs an installation in two scopes: test/install/scopes.test.ts types it',
  'baton init --adopt…': 'needs a folder that came from elsewhere: test/store-rule/init.test.ts types it as printed',
  'baton init --move…': 'needs a folder that came from elsewhere: test/store-rule/init.test.ts types it as printed',
  'baton report --data-dir …': 'needs a store of an older version: test/cli/all-stores.test.ts makes one',
  'baton look-back': 'help: compares one command with another',
  'baton serve': 'runs until it is ended: test/doors and test/hooks start it',
  'baton serve --data-dir …': 'runs until it is ended',
  'baton handoff FILE': 'the person puts the file there; test/cli/handoff.test.ts types it',
  'baton handoff FILE --session ID': 'the person puts both there; test/cli/handoff.test.ts types it',
  'baton mcp --session ID': 'a line of settings: the runtime starts it, and it reads until it is ended',
  'baton thread handoff --from …': 'asks on a terminal, and there is none here; its flag is followed with --preview',
  'baton audit verify …': 'the record must be broken first: test/audit types it',
}
