import { BeforeAll } from '@cucumber/cucumber'
import { enterCleanRoom } from '../../test/support/clean-room.ts'

// Scenarios are found and loaded from the clone, and carried out elsewhere.
BeforeAll(() => void enterCleanRoom())
