"""`python -m reasonenv`: the command line."""

from reasonenv.cli import main

if __name__ == "__main__":
    main()
