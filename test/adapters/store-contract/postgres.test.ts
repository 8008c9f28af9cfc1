import { contractOn } from './on-store.ts'

contractOn('postgres')
