"""How well do two hierarchies agree, cut by cut?"""
