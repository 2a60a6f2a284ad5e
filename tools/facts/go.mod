module binnacle/tools/facts

go 1.22
