Feature: Competing claimants
  Orchestrators run many workers, and workers die. A handoff must be carried out by one of them, never by two, and
  never by none: so a claim is exclusive, it ends by the store's own clock, and the loser of a race is told who won.

  Rule: If many want the same handoff or session, one gets it

    Background:
      Given "claude-code" is working on a conversation
      And it has done 1 turn

    Scenario: Twenty workers reach for one handoff
      Given it hands the conversation to "opus"
      When 20 workers claim the handoff at once
      Then the handoff is accepted
      And the record has 1 "handoff accepted"
      And 19 are refused as "handoff.already_claimed"
      And each of them is told who won

    Scenario: Claiming, completing, cancelling and giving up at the same time
      Given it hands the conversation to "opus"
      When one claims, one takes, one cancels and one gives up the handoff at once
      Then exactly one of the four decided what became of the handoff

    Scenario: Two agents start on one conversation at the same moment
      Given it completes its session
      When "opus" and "sonnet" start a session at once
      Then the conversation has 2 sessions, of which 1 is active
      And 1 is refused as "conversation.session_active"

  Rule: A claim ends at its deadline, by the store's clock

    Background:
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      And it hands the conversation to "opus"

    Scenario: A dead worker's claim falls to another
      Given "worker-1" claims the handoff for a moment
      And the deadline passes
      When "worker-2" claims the handoff
      Then the handoff is claimed by "worker-2"
      When "worker-1" takes the handoff
      Then that is refused as "handoff.not_claimant"
      And the person is told 'claimed by "worker-2"'
      And nothing was stored

    Scenario: A worker that needs longer renews its claim
      Given "worker-1" claims the handoff for a moment
      When "worker-1" renews its claim
      And the deadline passes
      And "worker-2" claims the handoff
      Then that is refused as "handoff.already_claimed"
      And the handoff is claimed by "worker-1"
      And the record has 1 "handoff claim renewed"

    Scenario: A worker that comes too late cannot renew
      Given "worker-1" claims the handoff for a moment
      And the deadline passes
      And "worker-2" claims the handoff
      When "worker-1" renews its claim
      Then that is refused as "handoff.not_claimant"
      And the handoff is claimed by "worker-2"

    Scenario Outline: Another worker may not <deed> a claimed handoff
      Given "worker-1" claims the handoff
      When "worker-2" tries to <deed> the handoff
      Then that is refused as "<code>"
      And the person is told 'claimed by "worker-1"'
      And nothing was stored

      Examples:
        | deed    | code                    |
        | claim   | handoff.already_claimed |
        | take    | handoff.not_claimant    |
        | cancel  | handoff.not_claimant    |
        | give up | handoff.not_claimant    |

    Scenario Outline: After the deadline <who> may still <deed> it
      Given "worker-1" claims the handoff for a moment
      And the deadline passes
      When "<who>" tries to <deed> the handoff
      Then the handoff is <status>
      And "claude-code"'s session is <source>

      Examples:
        | who      | deed    | status    | source     |
        | worker-1 | take    | completed | handed off |
        | worker-2 | cancel  | cancelled | active     |
        | worker-2 | give up | failed    | active     |

  Rule: Workers find the work that waits for their agent

    Scenario: Only handoffs that can be claimed are waiting
      Given "claude-code" is working on a conversation
      And it has done 1 turn
      When it hands the conversation to "opus"
      Then 1 handoff waits for "opus"
      And 0 handoffs wait for "sonnet"
      When "worker-1" claims the next handoff for "opus", for a moment
      And the deadline passes
      Then the handoff is claimed by "worker-1"
      And 1 handoff waits for "opus"
      When "worker-2" claims the next handoff for "opus"
      Then the handoff is claimed by "worker-2"
      And 0 handoffs wait for "opus"

    Scenario: Ten workers share out thirty handoffs
      Given 30 conversations wait for "opus"
      When 10 workers claim what waits for "opus" until nothing is left
      Then each of the waiting conversations was claimed exactly once
      And 0 handoffs wait for "opus"

    Scenario: A worker can wait for work to come, and another can stop waiting
      Given "worker-1" waits for work for "opus"
      And "worker-2" waits for work for "opus"
      And "worker-1" is told to stop waiting
      And "claude-code" is working on a conversation
      And it has done 1 turn
      When it hands the conversation to "opus"
      And "worker-2" has found work
      Then the handoff is claimed by "worker-2"
