import { register } from 'node:module'

// Given to node by --import: writes down every module that is loaded from here on, for loaded-modules.ts to read.
register('./note-modules-hooks.ts', import.meta.url)
