export { askService, NoService, type ServiceReply } from './adapters/hook-client/ask-service.ts'
export { readPending } from './adapters/hook-client/pending-text.ts'
export { workspaceOf } from './workspace.ts'
