export { MemoryStore } from '../adapters/memory/memory-store.ts'
