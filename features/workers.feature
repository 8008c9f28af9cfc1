Feature: Workers take up what is handed over
  An agent may hand its work to one that runs elsewhere. The handoff waits then, until a worker for that agent takes it up:
  a process that may stand on any machine, beside as many others as there is work for. A worker may be lost at any moment,
  and so may all of them; the work is not, and nobody does it twice.

  Rule: A handoff is taken up once, by a worker for its agent

    Scenario: A handoff waits for its agent, and a worker takes it up
      Given "planner" hands the job "login" to "coder", leaving "The plan is in A.md"
      When a worker for "coder" works until nothing waits
      Then the job "login" was done by "planner, coder"
      And the worker that took the job "login" was told "Fix login" and "The plan is in A.md"

    Scenario: A worker leaves alone what is for others
      Given "planner" hands the job "login" to "coder", leaving "Planned."
      And "planner" hands the job "prices" to "tester", leaving "Planned."
      When a worker for "coder" works until nothing waits for "coder"
      Then the job "login" was done by "planner, coder"
      And 1 handoff waits for "tester", with the checkpoint "Planned."

    Scenario: Two workers never have the same handoff
      Given "planner" hands 4 jobs to "coder"
      When 3 workers for "coder" work at once until nothing waits
      Then each of the 4 jobs was done by "planner, coder"

    Scenario: A worker hands on to an agent of another worker
      Given "planner" hands the job "login" to "coder", leaving "The plan is in A.md"
      And "coder" hands what it has done to "reviewer", leaving "The code is in B.ts"
      When a worker for "coder" and a worker for "reviewer" work at once until nothing waits
      Then the job "login" was done by "planner, coder, reviewer"
      And in the job "login", "coder" and "reviewer" had workers of their own
      And the worker that took the job "login" last was told "Fix login" and "The code is in B.ts"

  Rule: A worker that is lost takes nothing with it

    Scenario Outline: A worker is lost <when>
      Given "planner" hands the job "login" to "coder", leaving "Planned."
      And a worker for "coder" is lost <when>
      When a worker for "coder" works until nothing waits
      Then the job "login" was done by "planner, coder"
      And the worker that took the job "login" was told "Fix login" and "Planned."

      Examples:
        | when                                |
        | once it has claimed the handoff     |
        | once it has taken up the handoff    |
        | once its agent has answered         |

    Scenario: A handoff that kills its workers is failed, with its reason
      Given "planner" hands the job "login" to "coder", leaving "Planned."
      And 3 workers claimed the job "login", and were lost before they took it up
      When a worker for "coder" that allows 3 claims works until nothing waits
      Then the handoff of the job "login" has failed, because it "was claimed 3 times"
      And nobody took up the job "login"

  Rule: A worker stops when it is told to, and is fair to its agents

    Scenario: A worker that is told to stop finishes what it has, and takes up nothing more
      Given "planner" hands 2 jobs to "coder"
      When a worker for "coder" is told to stop during its first job
      Then 1 of the jobs was done by "planner, coder"
      And 1 handoff waits for "coder"

    Scenario: A worker for two agents goes from one to the other
      Given "planner" hands 2 jobs to "coder"
      And "planner" hands 2 jobs to "tester"
      When a worker for "coder, tester" works until nothing waits
      Then the jobs were taken up by "coder, tester, coder, tester", in this order
