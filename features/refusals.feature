Feature: When a rule says no
  A refusal is an answer, not an accident: it has a code a program can rely on and a sentence a person can act on, and
  nothing is written. An accident (the store is down) is told apart from it, so that nobody takes "cannot look" for
  "does not exist".

  Background:
    Given "claude-code" is working on a conversation

  Rule: A handoff needs a source at work and another agent

    Scenario Outline: A session that is <state> cannot be handed off
      Given it has done 1 turn
      And <step>
      When "claude-code" hands the conversation to "opus"
      Then that is refused as "session.not_active"
      And the person is told "is <stored>, and only an active session can do this"
      And nothing was stored

      Examples:
        | state      | stored     | step                                               |
        | paused     | paused     | it pauses its session                              |
        | completed  | completed  | it completes its session                           |
        | failed     | failed     | it gives its session up because "The disk is full" |
        | handed off | handed_off | the conversation has passed to "sonnet"            |

    Scenario Outline: The target agent cannot be written <written>
      Given it has done 1 turn
      When it hands the conversation to <written>
      Then that is refused as "<code>"
      And the person is told '<sentence>'
      And nothing was stored

      Examples:
        | written            | code               | sentence                                       |
        | ""                 | input.invalid      | The targetAgent cannot be used: it is blank |
        | "   "              | input.invalid      | The targetAgent cannot be used: it is blank |
        | tabs and line ends | input.invalid      | The targetAgent cannot be used: it is blank |
        | "claude-code"      | handoff.same_agent | for a fresh window use a context restart    |
        | "   claude-code "  | handoff.same_agent | for a fresh window use a context restart    |

    Scenario: Every reason is listed at once
      Given it has done 1 turn
      And it pauses its session
      When it hands the conversation to "claude-code"
      Then that is refused as "session.not_active, handoff.same_agent"
      And the person is told "is paused"
      And the person is told '"claude-code" already has this conversation'
      And nothing was stored

  Rule: A handoff refers only to what its own conversation holds

    Scenario Outline: It names <what>
      Given it has done these turns:
        | answering | tools     |
        | user      | read_file |
      And another conversation has turns and tool calls too
      When it hands the conversation to "opus", naming <what>
      Then that is refused as "<code>"
      And the person is told "of its own conversation"
      And nothing was stored

      Examples:
        | what                                  | code                |
        | a turn of the other conversation      | turn.not_found      |
        | a tool call of the other conversation | tool_call.not_found |
        | a tool call that never happened       | tool_call.not_found |

  Rule: A handoff that has ended does not change

    Scenario Outline: A handoff that is <ended> cannot be <done>
      Given it has done 1 turn
      And it hands the conversation to "opus"
      And "opus" tries to <first> the handoff
      When "opus" tries to <then> the handoff
      Then that is refused as "handoff.illegal_transition"
      And the person is told 'is <ended>, and "<command>" is not possible from there'
      And nothing was stored

      Examples:
        | ended     | done      | first   | then    | command  |
        | completed | claimed   | take    | claim   | accept   |
        | completed | taken     | take    | take    | complete |
        | completed | cancelled | take    | cancel  | cancel   |
        | completed | given up  | take    | give up | fail     |
        | cancelled | claimed   | cancel  | claim   | accept   |
        | cancelled | taken     | cancel  | take    | complete |
        | cancelled | cancelled | cancel  | cancel  | cancel   |
        | cancelled | given up  | cancel  | give up | fail     |
        | failed    | claimed   | give up | claim   | accept   |
        | failed    | taken     | give up | take    | complete |
        | failed    | cancelled | give up | cancel  | cancel   |
        | failed    | given up  | give up | give up | fail     |

  Rule: One session or handoff at a time

    Scenario Outline: While another has the conversation, <what> must wait
      Given it has done 1 turn
      And <situation>
      When <attempt>
      Then that is refused as "<code>"
      And the refusal names what is in the way
      And nothing was stored

      Examples:
        | what             | situation                                 | attempt                               | code                        |
        | a second session | "claude-code" does 1 turn                 | "opus" starts a session               | conversation.session_active |
        | a session        | it hands the conversation to "opus"       | "sonnet" starts a session             | conversation.handoff_open   |
        | a second handoff | it hands the conversation to "opus"       | it hands the conversation to "sonnet" | handoff.already_open        |
        | a paused session | it pauses its session in favour of "opus" | "claude-code" resumes its session     | conversation.session_active |

    Scenario Outline: <what> a session <that>
      Given it has done 1 turn
      And <situation>
      When <attempt>
      Then that is refused as "<code>"
      And nothing was stored

      Examples:
        | what       | that                 | situation                             | attempt                                            | code               |
        | Writing to | on its way to others | it hands the conversation to "opus"   | "claude-code" does 1 turn                          | session.not_active |
        | Pausing    | on its way to others | it hands the conversation to "opus"   | it pauses its session                              | session.held       |
        | Resuming   | on its way to others | it hands the conversation to "opus"   | "claude-code" resumes its session                  | session.held       |
        | Completing | on its way to others | it hands the conversation to "opus"   | it completes its session                           | session.held       |
        | Failing    | on its way to others | it hands the conversation to "opus"   | it gives its session up because "The disk is full" | session.held       |
        | Writing to | others have taken    | the conversation has passed to "opus" | "claude-code" does 1 turn                          | session.not_active |

  Rule: A caller is told what does not exist, and what makes no sense

    Scenario Outline: <what> that nobody knows
      When somebody <asks>
      Then that is refused as "<code>"
      And the person is told "There is no <named>"
      And nothing was stored

      Examples:
        | what           | asks                                        | code                   | named        |
        | A conversation | starts a session in an unknown conversation | conversation.not_found | conversation |
        | A session      | hands off an unknown session                | session.not_found      | session      |
        | A handoff      | takes an unknown handoff                    | handoff.not_found      | handoff      |

    Scenario Outline: A report that makes no sense (<report>)
      When it records <report>
      Then that is refused as "input.invalid"
      And the person is told "<problem>"
      And nothing was stored

      Examples:
        | report                               | problem                                                                        |
        | a turn without messages              | The turns[0].messages cannot be used: it is empty                              |
        | a user message that calls a tool     | The turns[0].messages[0] cannot be used: only an assistant message calls tools |
        | a negative count of tokens           | promptTokens cannot be used: -1 is not a whole number                          |
        | a good turn and one without messages | The turns[1].messages cannot be used: it is empty                              |

  Rule: A command has one identity and one answer

    Scenario: The id of one command is used for another
      Given it has done 1 turn
      And it hands the conversation to "opus"
      When "opus" takes the handoff under the same command id
      Then that is refused as "command.id_reused"
      And nothing was stored

    Scenario: A refusal is not remembered
      When it hands the conversation to "opus"
      Then that is refused as "session.no_turns"
      And the person is told "Record a turn first"
      And nothing was stored
      When "claude-code" does 1 turn
      And the command that was refused is sent again
      Then the handoff is initiated
      And the handoff points back to the last turn of "claude-code"

  Rule: A broken store is a failure and not a refusal

    Scenario: The store is down for a moment
      Given it has done 1 turn
      And the store will be down for a moment
      When it hands the conversation to "opus"
      Then the caller is told that the store failed and may be tried again
      And nothing was stored
      When the same command is sent again
      And the same command is sent again
      Then the handoff is initiated
      And the record has 1 "handoff initiated"
