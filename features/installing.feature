Feature: Installing
  One command puts the hooks of Batonpass into the settings of an agent, and one takes them out again. The settings belong
  to the person: whatever else is in them stays as it is, to the byte.

  Rule: Nothing of the person's is lost

    Scenario: Hooks and a status line of their own are kept
      Given a person has a hook "say done" and a status line "my-line.sh"
      When Batonpass is installed
      Then their settings name every hook of Batonpass
      And their settings name the hook "say done"
      And their status line is ours, which runs "my-line.sh"

    Scenario: Installing twice changes nothing
      Given a person has a hook "say done" and a status line "my-line.sh"
      And Batonpass is installed
      When Batonpass is installed once more
      Then their settings are as they were after the first time

    Scenario: Uninstalling gives the file back
      Given a person has a hook "say done" and a status line "my-line.sh"
      And Batonpass is installed
      When Batonpass is uninstalled
      Then their settings are as they were before, to the byte

    Scenario: A change that was made in between stays
      Given a person has a hook "say done" and a status line "my-line.sh"
      And Batonpass is installed
      And the person adds a hook "play a sound"
      When Batonpass is uninstalled
      Then their settings name the hooks "say done, play a sound" and no other
      And their status line is "my-line.sh"

  Rule: Settings that are not understood are not touched

    Scenario: A comment in the settings
      Given a person has settings with a comment in line 2
      When somebody tries to install Batonpass
      Then that is refused as "settings.malformed", naming line 2
      And their settings are as they were before, to the byte
