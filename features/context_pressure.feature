Feature: Context pressure
  An agent's window fills with every turn. Batonpass knows how full it is from the last request alone, and says so when
  a milestone is reached: once, at the right moment, to the session itself and to the one that started it. A compaction
  begins a new cycle. Where the policy says so, the turn that crosses the restart milestone hands over in the same breath.

  Rule: A milestone is signalled once in a cycle

    Scenario Outline: Each milestone signals once, and a jump over several signals once
      Given "claude-code" is working with a window of 100000 tokens
      When its window is read at "<readings>" percent
      Then "claude-code" was told of "<milestones>"

      Examples:
        | readings   | milestones        |
        | 49         |                   |
        | 50         | warning           |
        | 50, 55, 60 | warning           |
        | 70         | critical          |
        | 50, 70     | warning, critical |
        | 86         | restart           |

    Scenario: A low reading arms nothing, a compaction does
      Given "claude-code" is working with a window of 100000 tokens
      When its window is read at "55, 10, 55" percent
      Then "claude-code" was told of "warning"
      When its runtime reports a compaction
      And its window is read at "55" percent
      Then "claude-code" was told of "warning, warning"

    Scenario: Another process does not signal again
      Given "claude-code" is working with a window of 100000 tokens
      And its window is read at "50" percent
      When another process reads its window at "53" percent
      Then "claude-code" was told of "warning"

    Scenario: A sample from before the last compaction comes too late
      Given "claude-code" is working with a window of 100000 tokens
      When its runtime reports a compaction at second 11
      And a sample of 90 percent arrives that was taken at second 10
      Then nobody knows how full "claude-code"'s window is
      And "claude-code" was told of ""

    Scenario: While the monitor is switched off, readings are stored and nothing is signalled
      Given "claude-code" is working with a window of 100000 tokens
      And the watch over its window is switched off
      When its window is read at "90" percent
      Then "claude-code"'s window is 90 percent full
      And "claude-code" was told of ""

  Rule: A compaction takes a snapshot of what the window held

    Scenario: It is recorded once, however often it is reported
      Given "claude-code" is working with a window of 100000 tokens
      And it has done a turn that sent 60000 tokens and added 400
      When its runtime reports a compaction
      And its runtime reports a compaction
      Then the snapshots of "claude-code"'s window are for "session start, truncation"
      And the snapshot of "claude-code"'s window counts 1 user, 1 assistant, 0 tool and 0 system messages
      And nobody knows how full "claude-code"'s window is

  Rule: A signal goes to the sessions and the person it concerns

    Scenario: The session that started another is told about it, and given no orders
      Given "claude-code" is working with a window of 100000 tokens
      And "claude-code" has started the session of "helper" elsewhere
      When the window of "helper" is read at 70 percent
      Then "helper" was told of "critical"
      And "claude-code" was told "The context window of agent "helper" (session …) is 70 % full: 70k of 100k allowed."

    Scenario: A session is told of a compaction in a session that it started
      Given "claude-code" is working with a window of 100000 tokens
      And "claude-code" has started the session of "helper" elsewhere
      When the runtime of "helper" reports a compaction
      Then "claude-code" was told "The context window of agent "helper" (session …) was compacted (auto)."

    Scenario: If no session started it, the person who runs it is told
      Given "claude-code" is working with a window of 100000 tokens
      When its runtime reports a compaction
      Then "claude-code" was told "The context window of agent "claude-code" (session …) was compacted (auto)."
      And every listener was told that once

    Scenario: A queued signal waits until it is acknowledged, urgent signals first
      Given "claude-code" is working with a window of 100000 tokens
      And its window is read at "50, 70" percent
      Then the signals "critical, warning" are waiting for "claude-code"
      When "claude-code" acknowledges what is urgent
      Then the signal "warning" is waiting for "claude-code"

    Scenario: New milestones withdraw the signals that are still queued
      Given "claude-code" is working with a window of 100000 tokens
      And its window is read at "50" percent
      When its milestones become "0.9"
      Then no signal is waiting for "claude-code"

  Rule: Under the policy "auto" the turn that crosses hands over

    Scenario: The restart is initiated in the commit of the turn
      Given "claude-code" is working with a window of 100000 tokens under the policy "auto"
      When it does a turn that fills 90 percent of its window, using "edit_file, run_tests"
      Then the handoff is a context restart from "claude-code" to "claude-code" and is initiated
      And the handoff names the last turn of "claude-code" and the tool calls "edit_file, run_tests"
      And "claude-code"'s session is held by the handoff
      And "claude-code" was told of "restart"

    Scenario Outline: Otherwise the caller of the agent decides
      Given "claude-code" is working with a window of 100000 tokens under the policy "<policy>"
      When it does a turn that fills 90 percent of its window, using "run_tests"
      Then the session of "claude-code" is active and no handoff is open
      And "claude-code" was told of "restart"

      Examples:
        | policy |
        | advise |
        | manual |

    Scenario: A restart that was cancelled may be initiated again
      Given "claude-code" is working with a window of 100000 tokens under the policy "auto"
      And it does a turn that fills 90 percent of its window, using "run_tests"
      When the restart is cancelled
      And it does a turn that fills 91 percent of its window, using "run_tests"
      Then there are 2 restarts, of which 1 is open
