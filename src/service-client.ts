export { askService, NoService, type ServiceReply } from './adapters/hook-client/ask-service.ts'
export { keepHandoff, newHandoffId } from './adapters/hook-client/keep-handoff.ts'
export { readPending } from './adapters/hook-client/pending-text.ts'
export { workspaceOf } from './workspace.ts'
