Feature: Finishing what a lost process began
  A process can be killed between any two steps of a restart. Each step is stored before the next, so the process
  that recovers it sees how far it came and finishes it, once. A process that lives is left alone. A process that was told
  to stop has cleaned up after itself: there is nothing to recover, and a later run resumes the work.

  Rule: An unfinished restart is finished once, wherever its process was lost

    Scenario Outline: Lost in the middle of a restart
      Given "claude-code" works in two ordinary windows
      When it is run on "Fix the flaky test", and its process is lost after <step>
      Then its sessions are "<states>"
      When the orphaned work is recovered
      Then its sessions are "handed off, completed"
      And handoff 1 leads from session 1 to session 2
      And the checkpoint of handoff 1 is "Half is done."
      And session 2 is told "Half is done."
      And the agent of session 2 was launched with what is stored for it
      And session 2 has 2 turns
      And the record has 1 "handoff checkpointed"
      And the record has 1 "handoff prepared"
      And the record has 1 "handoff completed"
      And replaying the record gives the sessions and handoffs that are stored

      Examples:
        | step                           | states             |
        | the turn that fills the window | paused             |
        | the checkpoint                 | paused             |
        | the claim                      | paused             |
        | the continuation               | paused             |
        | the handoff is completed       | handed off, active |

    Scenario: Recovering again changes nothing
      Given "claude-code" works in two ordinary windows
      And it is run on "Fix the flaky test", and its process is lost after the checkpoint
      And the orphaned work is recovered
      When the orphaned work is recovered again
      Then that changed nothing
      And its sessions are "handed off, completed"

    Scenario: Three processes that recover at the same moment finish it once
      Given "claude-code" works in two ordinary windows
      And it is run on "Fix the flaky test", and its process is lost after the checkpoint
      When 3 processes recover the orphaned work at once
      Then its sessions are "handed off, completed"
      And the conversation's handoffs are "completed"
      And session 2 has 2 turns

    Scenario: Running the conversation again recovers it too
      Given "claude-code" works in two ordinary windows
      And it is run on "Fix the flaky test", and its process is lost after the checkpoint
      When it is run again
      Then its sessions are "handed off, completed"
      And the conversation's handoffs are "completed"

    Scenario: If no process can run a session, it fails and says so; a later run resumes the work
      Given "claude-code" works in two ordinary windows
      And it is run on "Fix the flaky test", and its process is lost after the checkpoint
      When the orphaned work is recovered by a process that cannot run it
      Then its sessions are "failed"
      And the conversation's handoffs are "failed"
      When it is run again
      Then its sessions are "failed, completed"
      And session 2 is told "Half is done."

  Rule: An orphaned agent is ended before its session is resumed

    Scenario: Two agents never work in the same place
      Given "claude-code" works in one ordinary window
      And its agent is a process of the same machine
      When it is run on "Fix the flaky test", and its process is lost after its first turn
      Then agent 1 is still at work
      When the orphaned work is recovered
      Then agent 1 was ended before agent 2 began
      And no agent is at work
      And its sessions are "completed"

    Scenario: An orphaned agent is also ended if no process can resume its work
      Given "claude-code" works in one ordinary window
      And its agent is a process of the same machine
      When it is run on "Fix the flaky test", and its process is lost after its first turn
      And the orphaned work is recovered by a process that cannot run it
      Then no agent is at work
      And its sessions are "failed"

  Rule: Recovery does not wait for a process that has visibly ended

    Scenario Outline: Killed on the same machine, long before its lease is over
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                                        | its checkpoint |
        | 10 % read_file, 90 % edit_file, 92 % edit_file   | Half is done.  |
        | 10 % read_file, 15 %                             |                |
      And its agent is a process of the same machine
      When it is run on "Fix the flaky test", and its process is killed on the same machine after <step>
      And the orphaned work is recovered
      Then its sessions are "handed off, completed"
      And no agent is at work

      Examples:
        | step                           |
        | its first turn                 |
        | the turn that fills the window |
        | the claim                      |
        | the handoff is completed       |

    Scenario: The same work may be run again at once
      Given "claude-code" works in one ordinary window
      And its agent is a process of the same machine
      When it is run on "Fix the flaky test", and its process is killed on the same machine after its first turn
      And it is run again
      Then its sessions are "completed"

  Rule: A process that lives is left alone

    Scenario: The session of a living process is not recovered
      Given "claude-code" works in two ordinary windows
      And it is run on "Fix the flaky test", up to its window 2
      And it works for longer than a process may be silent
      When the orphaned work is recovered
      Then that changed nothing
      And session 2 is at work

    Scenario: No other process may run its conversation
      Given "claude-code" works in two ordinary windows
      And it is run on "Fix the flaky test", up to its window 2
      When another process runs the same conversation
      Then that is refused as "session.leased"
      And nothing was stored
      And session 2 is at work

  Rule: A cancelled run leaves nothing half done

    Scenario: The handoff is cancelled, the session paused, and a later run resumes it
      Given "claude-code" works in windows of 1000 tokens:
        | its turns                            | its checkpoint |
        | 10 % read_file, 90 % edit_file, 20 % | Half is done.  |
      When it is run on "Fix the flaky test", and cancelled while it writes its checkpoint
      Then its sessions are "paused"
      And the conversation's handoffs are "cancelled"
      And the handoff ended because "The run was cancelled: Ctrl-C"
      And no handoff of "claude-code"'s session is open
      When it is run again
      Then its sessions are "completed"
      And session 1 has 3 turns
