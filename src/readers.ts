import { agentSdkReader } from './adapters/claude/agent-sdk-reader.ts'
import { statusLineReader } from './adapters/claude/status-line-reader.ts'
import { transcriptReader } from './adapters/claude/transcript-reader.ts'
import { execReader } from './adapters/codex/exec-reader.ts'
import { rolloutReader } from './adapters/codex/rollout-reader.ts'
import type { WindowReader } from './ports/window-reader.ts'

/** The readers of every runtime there is one for, the most particular first. */
export const WINDOW_READERS: readonly WindowReader[] = [
  rolloutReader,
  execReader,
  statusLineReader,
  transcriptReader,
  agentSdkReader,
]
