"""Running untrusted programs: one interface, its back ends, and a suite that every one passes."""
