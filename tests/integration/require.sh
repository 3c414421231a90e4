# shellcheck shell=bash
# require.sh - what a test script does when a resource is missing; sourced.
#
# A developer without root still wants the other tests, but CI must not turn green because something quietly went away.
# So a missing resource is a skip (ctest's SKIP_RETURN_CODE 77) with its reason, unless JAXPROF_REQUIRE, a list separated
# by commas, names it: then it is a failure.

# missing RESOURCE REASON...
missing() {
    local resource=$1
    shift
    case ,${JAXPROF_REQUIRE:-}, in
    *,"$resource",*)
        echo "FAILED: JAXPROF_REQUIRE names $resource, but $*" >&2
        exit 1
        ;;
    esac
    echo "skipped: $*"
    exit 77
}
