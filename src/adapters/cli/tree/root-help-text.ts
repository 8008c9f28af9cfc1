/** The text of `baton --help`, which `npm run docs` makes from the command tree. A test compares the two. */
export const ROOT_HELP = `Usage: baton COMMAND

Keeps an agent’s work going when its context window ends, and keeps the record.

Flags:
  -v, --version  show the version
  -h, --help     show this help

Commands:
  demo           take a scripted agent through a handoff and print the lineage
  run            run an agent, and continue in a fresh window when its window is full
  work           work for an agent: take up what is handed to it, until you stop it
  recover        resume the orphaned work of a lost process, or fail it
  status         show what runs now: sessions, their windows and holders, handoffs and signals that wait
  handoff        leave a document for the next session of this workspace, or hand over to another agent
  serve          run the service that terminal sessions report to
  replay         follow a recorded session and say where each milestone would have fired
  config         check configuration files: check
  report         tell what every job did since yesterday evening, how it stands, and what waits for whom
  audit          ask the audit log, and prove that it is intact: trail, verify, query
  conversations  look at conversations: list, show
  sessions       look at sessions: list, show, window
  handoffs       look at handoffs: list, show
  messages       show what was said in a conversation or a session, word for word
  turns          list the turns of a conversation or a session, with their tool calls
  look-back      look up what earlier windows said and did, as an agent can
  search         find words in everything that was said, in any conversation
  lineage        show where a conversation came from and what happened to it
  thread         open a new thread with a short summary, and look after summaries: handoff, setup, status, cleanup, history
  claude         put our hooks into the settings of Claude Code: install, uninstall, status
  codex          put our hooks into the settings of Codex: install, uninstall, status
  hook           answer the hooks of Claude Code and Codex: statusline, session-start and six others
  mcp            answer an agent over MCP: its window, its history, handoffs
  init           make a store for this project, or adopt one that is there
  doctor         look for what is wrong, and say how to repair it
  migrate        change the schema of the database: up, down, status, sql
  prune          forget commands that nobody repeats any more
  completion     print a script that completes commands and flags in a shell
  help           show this, or the help of a command
  version        show the version

Exit status:
  0    done
  1    something broke: the store, the machine, the agent, or Batonpass itself; or doctor found a problem
  2    the command line was not understood
  3    a rule said no, or what was asked for is not there
  4    a run: the window was full, and no restart was left
  5    a run: out of time
  6    a run: taken over by another process
  7    there is no store to read
  8    migrate status: the schema lacks changes
  9    a run: the work waits for another agent
  10   a run: the agent answered, but every attempt to change a file was refused
  130  cancelled, as by Ctrl-C`
